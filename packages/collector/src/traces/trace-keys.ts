// Trace keys: the store's marks of the keys that its rows may need. Each is an empty text that the key sealed.
import type { Log } from "@holdpoint/base/log/log.ts";
import type { Keyring } from "@holdpoint/base/keyring.ts";
import { checkProofs } from "../shared/key-proof.ts";
import type { Row } from "./merged-run.ts";

const PLACE = "trace store";

/** The marks of one store. */
export interface KeyMarks {
  readonly add: (id: string, proof: string) => unknown;
  readonly remove: (id: string) => unknown;
  /** Whether a sealed value begins so. It may say yes for another one. */
  readonly isUsed: (beginning: string) => boolean | Promise<boolean>;
}

/**
 * Before the first read.
 * @param rows with `id` and `proof` @throws {ConfigError} without the key of a mark, or with another one of its id
 */
export async function claimTraceKeys(
  rows: readonly Row[],
  marks: KeyMarks,
  { ring, log }: { readonly ring: Keyring | null; readonly log: Log },
): Promise<void> {
  const known = checkProofs(
    rows.map(({ proof }) => ({ file: "the trace store", proof: String(proof), place: PLACE })),
    ring,
  );
  if (ring === null) return;
  const newest = ring.ids[0] ?? "";
  const used: string[] = [];
  for (const id of known) {
    if (id === newest || (await marks.isUsed(`~1.${id}`))) used.push(id);
    else await marks.remove(id);
  }
  if (!known.has(newest)) await marks.add(newest, ring.seal("", PLACE));
  log.info("trace_keys", { newest, in_use: used });
}
