// Pruning: which checkpoints of a thread stay, what makes them stand alone, and which big values are still referred to:
// what every adapter decides alike.
// Invariants:
//   PR1. What can be gone on from stays: the newest checkpoint of the root, and of every subgraph that keeps a state of its
//        own or whose newest checkpoint is of the root's run or later (it may be in the middle of what the root waits for).
//   PR2. Before a row goes that a row which stays refers to, the values are copied over.
//   PR3. A big value stays while a checkpoint, a write or the input of a run that stays refers to it.
import type { Json, JsonObject } from "../base/json.ts";

/** The newest checkpoint of a namespace. */
export interface Head {
  readonly ns: string;
  readonly checkpointId: string;
  readonly runId: string;
  readonly body: string;
  readonly small: string;
}

type Body = JsonObject & { readonly from: Readonly<Record<string, string>> };

/** PR1. */
export function headsThatStay(heads: readonly Head[]): readonly Head[] {
  const root = heads.find(({ ns }) => ns === "");
  return heads.filter(({ ns, runId }) => ns === "" || !ns.includes(":") || (root !== undefined && runId >= root.runId));
}

/** Ids of the checkpoints whose values a checkpoint refers to. */
export function stepsReferredTo({ body }: Head): readonly string[] {
  const { from } = JSON.parse(body) as Body;
  return [...new Set(Object.values(from).filter((origin) => origin !== "" && !origin.startsWith("#")))];
}

/** PR2. @param steps `small` of each of the checkpoints that are referred to, by id. */
export function standingAlone(head: Head, steps: ReadonlyMap<string, string>): Pick<Head, "body" | "small"> {
  const body = JSON.parse(head.body) as Body;
  const values = new Map(Object.entries(JSON.parse(head.small) as Record<string, Json>));
  const from = new Map(Object.entries(body.from));
  const parsed = new Map([...steps].map(([id, small]) => [id, JSON.parse(small) as Readonly<Record<string, Json>>]));
  for (const [channel, origin] of from) {
    const step = parsed.get(origin);
    if (step === undefined) continue;
    values.set(channel, step[channel] ?? null);
    from.set(channel, "");
  }
  return {
    body: JSON.stringify({ ...body, from: Object.fromEntries(from) }),
    small: JSON.stringify(Object.fromEntries(values)),
  };
}

/** PR3: the hashes in bodies of checkpoints, entries of writes and inputs of runs. */
export function hashesIn(
  bodies: readonly string[],
  entries: readonly string[],
  inputs: readonly string[],
): readonly string[] {
  const used = new Set<string>();
  const add = (reference: Json | undefined): void => {
    if (typeof reference === "string" && reference.startsWith("#")) used.add(reference.slice(1));
  };
  for (const body of bodies) for (const origin of Object.values((JSON.parse(body) as Body).from)) add(origin);
  for (const list of entries) for (const entry of JSON.parse(list) as readonly (readonly Json[])[]) add(entry[3]);
  for (const input of inputs) add(input);
  return [...used];
}
