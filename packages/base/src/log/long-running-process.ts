// Long-running process: a service that runs until a signal stops it.
import { stopping as partsInStop } from "../lifecycle.ts";
import type { Log } from "./log.ts";

export interface LongRunningProcess {
  readonly log: Log;
  readonly stop: () => Promise<void>;
  /** Longest duration of stop(), whatever hangs: then the process ends anyway. */
  readonly stopMs: number;
  /** The summary, after stop(). */
  readonly exitCode: () => number;
  /** Reports readiness. A reader may send a signal at once. */
  readonly announce: () => Promise<void>;
}

/** npm passes Ctrl-C on to a process that the terminal told already: within this time they are one signal. */
const ONE_SIGNAL_MS = 1000;

/**
 * Stops it at SIGTERM, SIGINT and SIGHUP (a closed terminal). The first signal drains, within a limit whatever hangs; a second one ends at once.
 * @param host the process of the program
 */
export function stopOnSignals(
  { stop, stopMs, log, exitCode }: LongRunningProcess,
  host: Pick<NodeJS.Process, "on" | "exit">,
): void {
  let firstAt: number | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (firstAt !== undefined) {
      if (performance.now() - firstAt > ONE_SIGNAL_MS) host.exit(1);
      return;
    }
    firstAt = performance.now();
    log.info("stopping", { signal });
    setTimeout(() => {
      log.error("stop_hung", { parts: partsInStop().join(", "), after_ms: stopMs });
      host.exit(1);
    }, stopMs);
    stop().then(
      () => {
        log.info("stopped");
        host.exit(exitCode());
      },
      (error: unknown) => {
        log.error("stop_failed", { reason: String(error) });
        host.exit(1);
      },
    );
  };
  host.on("SIGTERM", onSignal);
  host.on("SIGINT", onSignal);
  host.on("SIGHUP", onSignal);
}
