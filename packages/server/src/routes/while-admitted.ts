// While admitted: a streamed reply that ends with the access of its caller.
// Invariants:
//   while-admitted.1. An open stream is checked again every RECHECK_MS, and at once when the credentials of its caller end
//        in this process. The check is no use of a session: an open page does not keep a person signed in.
//   while-admitted.2. A stream whose caller has no access any more, or another scope, is cut. It never ends cleanly:
//        clients would take the end for that of a run.
//   - A read that waited is checked as well if the credentials of its caller ended meanwhile.
import type { Clock } from "@holdpoint/base/clock.ts";
import type { AccessChanges } from "../ports/ports.ts";

export const RECHECK_MS = 30_000;

type Pieces = AsyncIterable<string | Uint8Array>;

export interface Admission {
  readonly clock: Clock;
  readonly changes: AccessChanges | undefined;
  /** Name of the caller. */
  readonly name: string;
  /** @throws {ApiError} without access @returns false if the caller has another scope now */
  readonly check: () => Promise<boolean>;
}

export async function* whileAdmitted(pieces: Pieces, admission: Admission): AsyncGenerator<string | Uint8Array> {
  let cut: (error: Error) => void = () => undefined;
  let lost: Error | null = null;
  const stop = watchAdmission(admission, (error) => {
    lost = error;
    cut(error);
  });
  const source = pieces[Symbol.asyncIterator]();
  try {
    for (;;) {
      // Not Promise.race(): with a promise that outlives the stream's pieces, it would keep every one of them.
      const result = await new Promise<IteratorResult<string | Uint8Array>>((resolve, reject) => {
        cut = reject;
        if (lost !== null) reject(lost);
        else source.next().then(resolve, reject);
      });
      if (result.done === true) return;
      yield result.value;
    }
  } finally {
    stop();
    void source.return?.(); // not awaited: a source that waits for its next event would block here
  }
}

/** @returns ends the watch, and says whether the credentials of the caller ended in this process */
export function watchEnds(changes: AccessChanges | undefined, name: string): () => boolean {
  let ended = false;
  const unsubscribe = changes?.onEnded(name, () => void (ended = true));
  return () => {
    unsubscribe?.();
    return ended;
  };
}

/** @param onLost the caller is not admitted any more (while-admitted.2). @returns stops the checks */
function watchAdmission({ clock, changes, name, check }: Admission, onLost: (error: Error) => void): () => void {
  let cancel: () => void = () => undefined;
  let checks = 0;
  const again = async (): Promise<void> => {
    cancel();
    const own = ++checks;
    try {
      if (!(await check())) throw new Error("the caller's scope has changed");
      if (own === checks) cancel = clock.after(RECHECK_MS, () => void again());
    } catch (error) {
      onLost(error as Error);
    }
  };
  cancel = clock.after(RECHECK_MS, () => void again()); // while-admitted.1
  const unsubscribe = changes?.onEnded(name, () => void again());
  return () => {
    checks = Infinity;
    cancel();
    unsubscribe?.();
  };
}
