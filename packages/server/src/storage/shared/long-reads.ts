// Long reads: the reads whose time grows with the rows that they look at. Each is a read of its own, without the rest of
// a transaction: the embedded database runs them beside the event loop, PostgreSQL in its own process.
import type { LongRead, LongReads, Tx } from "../../ports/ports.ts";

const LONG_READS: Readonly<Record<LongRead, true>> = {
  searchThreadIds: true,
  countThreads: true,
  inbox: true,
  countInbox: true,
  tallyInbox: true,
  tallyMetadata: true,
  searchAudit: true,
  auditHeads: true,
  auditLinks: true,
  unchainedAudit: true,
  searchAssistants: true,
  countAssistants: true,
  searchCrons: true,
  countCrons: true,
  newestStoreItems: true,
  nearestStoreItems: true,
  storeNamespaces: true,
  storedBytes: true,
};

/** One call of a verb, as it travels between threads. */
export interface ReadCall {
  readonly verb: LongRead;
  readonly args: readonly unknown[];
}

export function createLongReads(read: (call: ReadCall) => Promise<unknown>): LongReads {
  const verbs = (Object.keys(LONG_READS) as LongRead[]).map((verb) => [
    verb,
    (...args: readonly unknown[]) => read({ verb, args }),
  ]);
  return Object.fromEntries(verbs) as LongReads;
}

export function callVerb(tx: Tx, { verb, args }: ReadCall): unknown {
  return (tx[verb] as (...given: readonly unknown[]) => unknown)(...args);
}
