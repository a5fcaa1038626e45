// Rewrite of stored values with the newest key of encryption at rest, in the background.
// Invariants:
//   - It goes over all rows, a page a transaction, until one whole pass finds nothing to rewrite; then the keys that no
//     value needs any more lose their marks. It continues after a restart.
//   - Between two pages the server has the time that the page took.
import { describeError } from "@holdpoint/base/api-error.ts";
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { RowCursor, Storage } from "../ports/ports.ts";

const PAGE_ROWS = 16;
const PROGRESS_ROWS = 10_000;
const RETRY_MS = 60_000;
const PAUSE_MIN_MS = 1;

interface Ports {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly log: Log;
}

export function createReseal(ports: Ports): Service {
  const { storage, clock, log } = ports;
  const state = { stopped: false };
  let working: Promise<void> = Promise.resolve();
  let cancel: () => void = () => undefined;
  const work = async (): Promise<void> => {
    try {
      await resealAll(ports, state);
    } catch (error) {
      log.warning("reseal_failed", { reason: describeError(error).message });
      if (!state.stopped) cancel = clock.after(RETRY_MS, () => void (working = work()));
    }
  };
  return {
    name: "rewrite of sealed values",
    async start() {
      const { given, inUse, isComplete } = await storage.read((tx) => tx.sealingState());
      if (given.length === 0) return;
      log.info("encryption_keys", { newest: given[0] ?? "", in_use: inUse, complete: isComplete });
      if (!isComplete) working = work();
    },
    async stop() {
      state.stopped = true;
      cancel();
      await working;
    },
  };
}

async function resealAll(ports: Ports, state: { readonly stopped: boolean }): Promise<void> {
  const { storage, log } = ports;
  let { place } = await storage.read((tx) => tx.sealingState());
  let isWhole = place === null;
  for (;;) {
    const pass = await resealPass(ports, state, place);
    if (pass === null) return;
    if (isWhole && pass.rows === 0) {
      await storage.transaction((tx) => tx.resealed(pass.left));
      const { inUse } = await storage.read((tx) => tx.sealingState());
      log.info("resealed", { in_use: inUse });
      return;
    }
    [place, isWhole] = [null, true];
  }
}

/** Null if the server stops. */
async function resealPass(
  { storage, clock, log }: Ports,
  state: { readonly stopped: boolean },
  from: RowCursor | null,
): Promise<{ readonly rows: number; readonly left: readonly string[] } | null> {
  const left = new Set<string>();
  let [place, rows, told] = [from, 0, 0];
  do {
    if (state.stopped) return null;
    const before = clock.monotonic();
    const at = place;
    const page = await storage.transaction((tx) => tx.resealPage(at, PAGE_ROWS));
    for (const id of page.left) left.add(id);
    rows += page.rows;
    if (rows - told >= PROGRESS_ROWS) log.info("resealing", { rows: (told = rows), table: place?.table ?? "" });
    place = page.next;
    const pauseMs = Math.max(PAUSE_MIN_MS, clock.monotonic() - before);
    await new Promise<void>((resolve) => void clock.after(pauseMs, resolve));
  } while (place !== null);
  return { rows, left: [...left] };
}
