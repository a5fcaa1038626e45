// Checkpoint pruning: the checkpoints of a thread to keep, the values to copy into them, and the large values still in
// use. The same rules hold for every adapter.
// Invariants:
//   - The newest checkpoint of the root stays, and that of every subgraph that keeps its own state or that wrote it in
//     the root's run or later (the root may be paused inside it).
//   - Values that a kept row references in a deleted one move to the kept row first.
//   - A large value stays while a remaining checkpoint, write or run input references it.
//   - LangGraph rebuilds a DeltaChannel from a snapshot in an older checkpoint: that checkpoint and all later ones
//     stay, with their writes.
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";

/** A checkpoint that pruning may keep. */
export interface Kept {
  readonly ns: string;
  readonly checkpointId: string;
  readonly body: string;
  readonly small: string;
}

/** The newest checkpoint of a namespace. */
export interface Head extends Kept {
  readonly runId: string;
  readonly metadata: string;
}

/** An ancestor of a head. */
export type Ancestor = Pick<Kept, "checkpointId" | "body">;

/** More supersteps than LangGraph allows between two snapshots (5,000 by default). */
export const ANCESTORS_MAX = 20_000;

type Body = JsonObject & {
  readonly from: Readonly<Record<string, string>>;
  readonly versions?: Readonly<Record<string, unknown>>;
};

export function keptHeads(heads: readonly Head[]): readonly Head[] {
  const root = heads.find(({ ns }) => ns === "");
  return heads.filter(({ ns, runId }) => ns === "" || !ns.includes(":") || (root !== undefined && runId >= root.runId));
}

/** Channels that a head rebuilds from writes: LangGraph counts their updates since a snapshot. */
export function rebuiltChannels({ metadata, body }: Head): readonly string[] {
  const { counters_since_delta_snapshot: counters, delta_writes_versioned: versioned } = JSON.parse(
    metadata,
  ) as JsonObject;
  if (!isJsonObject(counters)) return [];
  const { from, versions } = JSON.parse(body) as Body;
  const written = (channel: string): boolean => versioned !== true || versions?.[channel] !== undefined;
  return Object.keys(counters).filter((channel) => from[channel] === undefined && written(channel));
}

/** @param line the ancestors of the head, from its parent on */
export function keptAncestors(head: Head, line: readonly Ancestor[]): readonly string[] {
  const missing = new Set(rebuiltChannels(head));
  const kept: string[] = [];
  for (const { checkpointId, body } of line) {
    if (missing.size === 0) break;
    kept.push(checkpointId);
    const { from } = JSON.parse(body) as Body;
    for (const channel of missing) if (from[channel] !== undefined) missing.delete(channel);
  }
  return kept;
}

/** Ids of referenced checkpoints that pruning deletes. */
export function referencedSteps({ body }: Kept, kept: ReadonlySet<string>): readonly string[] {
  const { from } = JSON.parse(body) as Body;
  const steps = Object.values(from).filter((origin) => origin !== "" && !origin.startsWith("#") && !kept.has(origin));
  return [...new Set(steps)];
}

/** @param steps `small` of each referenced checkpoint to delete, by id */
export function selfContained(head: Kept, steps: ReadonlyMap<string, string>): Pick<Kept, "body" | "small"> {
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

/** The hashes in checkpoint bodies, write entries and run inputs. */
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
