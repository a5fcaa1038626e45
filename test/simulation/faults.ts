// Planted faults: what the simulation is measured with. Each is a fault that the product had, or could have.
import type { Awaitable, RunAttempt, Storage, Tx } from "@holdpoint/server/ports/ports.ts";
import type { WriteSet } from "@holdpoint/server/model/model.ts";
import type { Patch } from "./simulated-client.ts";

export type Fault =
  /** The storage repeats the statements of a refused transaction, after those of later ones. */
  | "rows of a refused transaction are overtaken"
  /** A further attempt continues at the first id that is not stored, although readers have seen later ones. */
  | "ids of events are given twice"
  /** A read after the accepting commit fails with the storage, and the caller hears that. */
  | "an accepted answer is 503"
  /** A COMMIT without a reply counts as one that did not take place. */
  | "a lost COMMIT counts as refused"
  /** Transactions on one thread do not wait for each other. */
  | "no lock";

/** Each with the seeds within which it is found, and one that is near a seed that finds it. */
export const PLANTED: readonly (readonly [fault: Fault, within: number, near: number])[] = [
  ["rows of a refused transaction are overtaken", 500, 69],
  ["ids of events are given twice", 50, 2],
  ["an accepted answer is 503", 200, 27],
  ["a lost COMMIT counts as refused", 500, 127],
  ["no lock", 500, 126],
];

/** The SQL that PostgreSQL gets. */
export function choosePatch(fault: Fault | null): Patch {
  if (fault === "no lock") return (sql) => sql.replace(/^SELECT pg_advisory_xact_lock\(.*\)$/, "SELECT $1::text");
  if (fault === "a lost COMMIT counts as refused")
    return (sql) => sql.replace(/^SELECT number FROM holdpoint\.commits WHERE/, "$& number < 0 AND");
  return (sql) => sql;
}

/** The storage as the server gets it. */
export function plantInStorage(storage: Storage, fault: Fault | null): Storage {
  if (fault !== "rows of a refused transaction are overtaken") return storage;
  const plant = <T>(work: (tx: Tx) => Awaitable<T>) => repeatStatements(work);
  return {
    ...storage,
    transaction: (work) => storage.transaction(plant(work)),
    transactionDeferred: (work) => storage.transactionDeferred(plant(work)),
  };
}

/** Work that a repetition does not ask again what to write. */
function repeatStatements<T>(work: (tx: Tx) => Awaitable<T>): (tx: Tx) => Promise<T> {
  const written: (readonly [RunAttempt, WriteSet])[] = [];
  let first: { readonly result: T | null } | null = null;
  return async (tx) => {
    if (first !== null && written.length > 0) {
      for (const [run, set] of written) await tx.putRunWrites(run, set);
      return first.result as T;
    }
    const noted: Tx = {
      ...tx,
      putRunWrites(run, set) {
        written.push([run, set]);
        return tx.putRunWrites(run, set);
      },
    };
    first = { result: null };
    const result = await work(noted);
    first = { result };
    return result;
  };
}
