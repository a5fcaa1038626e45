// Hot reload: a file of the project changes → its graphs load again and replace the old ones. For `dev`.
// Invariants:
//   graphs/hot-reload.1. A graph that fails to load changes nothing: the old one stays, and each change logs the reason
//        once.
//   graphs/hot-reload.2. A run in progress ends in its first code; paused threads continue in the new code.
//   graphs/hot-reload.3. A change counts if a file's content differs; changes during a reload are not missed.
//   graphs/hot-reload.4. A change that needs a restart is logged and has no effect.
import { hash } from "node:crypto";
import { readFileSync, watch, type FSWatcher } from "node:fs";
import { dirname } from "node:path";
import type { Clock } from "../base/clock.ts";
import { describeError } from "../base/api-error.ts";
import type { Service } from "../base/lifecycle.ts";
import type { Log } from "../base/log/log.ts";
import type { GraphsConfig, GraphSource } from "./config/langgraph-json.ts";
import type { FreshModules } from "./loading/module-reload.ts";
import type { DeployedGraphs } from "./graphs.ts";

export interface HotReloadPorts {
  readonly modules: FreshModules;
  readonly graphs: Pick<DeployedGraphs, "deploy">;
  /** Reads the configuration file again. @throws {ConfigFileError} */
  readonly readConfig: () => GraphsConfig;
  /** Called after graphs were replaced: new ones may need assistants. */
  readonly onReloaded: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Editors write a file in several steps. */
const QUIET_MS = 80;
const FOLDERS_MAX = 500;

/** @param file the configuration file, watched like those of the graphs */
export function createHotReload(file: string, config: GraphsConfig, ports: HotReloadPorts): Service {
  const { modules, clock, log } = ports;
  const watchers = new Map<string, FSWatcher>();
  const contents = new Map<string, string>();
  let sources = config.graphs;
  let cancelLook: () => void = () => undefined;
  let looking: Promise<void> | null = null;
  const stopped = new AbortController();

  const watched = (): readonly string[] => [file, ...modules.files()];
  const changedFiles = (): readonly string[] =>
    watched().filter((path) => {
      const before = contents.get(path);
      const now = contentOf(path);
      contents.set(path, now);
      return before !== undefined && before !== now; // graphs/hot-reload.3
    });

  const reload = async (): Promise<void> => {
    const begunAt = clock.monotonic();
    const next = readSources();
    modules.renew();
    const failed = new Map<string, string[]>();
    const names: string[] = [];
    for (const source of next) {
      try {
        await ports.graphs.deploy(source);
        names.push(source.graphId);
      } catch (error) {
        const reason = describeError(error).message;
        failed.set(reason, [...(failed.get(reason) ?? []), source.graphId]); // graphs/hot-reload.1
      }
    }
    sources = next;
    for (const [reason, graphs] of failed) log.error("graph_not_reloaded", { graphs, reason });
    if (names.length === 0) return;
    await ports.onReloaded();
    log.info("graphs_reloaded", { graphs: names, duration_ms: Math.round(clock.monotonic() - begunAt) });
  };

  /** The graphs of the configuration file as it is now; the previous ones if it is unreadable. */
  const readSources = (): readonly GraphSource[] => {
    try {
      const next = ports.readConfig();
      const gone = sources.filter(({ graphId }) => next.graphs.every((one) => one.graphId !== graphId));
      const others = JSON.stringify({ ...next, graphs: [] }) !== JSON.stringify({ ...config, graphs: [] });
      // graphs/hot-reload.4
      if (gone.length > 0 || others) log.warning("restart_needed", { file, removed: gone.map((one) => one.graphId) });
      return [...next.graphs, ...gone];
    } catch (error) {
      log.error("config_not_reloaded", { reason: describeError(error).message });
      return sources;
    }
  };

  const look = async (): Promise<void> => {
    try {
      while (!stopped.signal.aborted && changedFiles().length > 0) await reload();
    } catch (error) {
      log.error("reload_failed", { reason: describeError(error).message });
    }
    if (!stopped.signal.aborted) watchFolders();
  };

  const lookSoon = (): void => {
    cancelLook();
    cancelLook = clock.after(QUIET_MS, () => {
      looking = (looking ?? Promise.resolve()).then(look);
    });
  };

  /** Folders, not files: an editor that writes a new file and renames it removes the file from its watcher. */
  const watchFolders = (): void => {
    changedFiles(); // new ones have a known content from now on
    for (const folder of new Set(watched().map(dirname))) {
      if (watchers.has(folder) || watchers.size >= FOLDERS_MAX) continue;
      try {
        const watcher = watch(folder, lookSoon);
        watcher.on("error", () => watchers.delete(folder));
        watchers.set(folder, watcher);
      } catch {
        // it does not exist (yet)
      }
    }
  };

  return {
    name: "hot reload",
    async start() {
      watchFolders();
    },
    async stop() {
      stopped.abort();
      cancelLook();
      for (const watcher of watchers.values()) watcher.close();
      await looking;
    },
  };
}

function contentOf(path: string): string {
  try {
    return hash("sha256", readFileSync(path));
  } catch {
    return "";
  }
}
