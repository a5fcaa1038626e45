// Rows for the contract of the storage port.
import {
  BIG_VALUE_UNITS,
  type Blob,
  type Checkpoint,
  type Interrupt,
  type Run,
  type RunRequest,
  type Thread,
  type WriteSet,
} from "../../model/model.ts";
import { interruptRecord, plainRequest, runRecord, threadRecord } from "../../model/testkit.ts";
import type { ThreadQuery } from "../../ports/ports.ts";
import { contentHash, createIdSource } from "@holdpoint/base/ids.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";

export const CLAIM = { status: "running", workerId: null, updatedAt: 77 } as const;

export const newId = createIdSource(Date.now);
export const ODD: JsonObject = JSON.parse(
  '{"__proto__":{"a":1},"nul":"\\u0000","half":"\\ud800","$hp":"date","list":[null,{}]}',
) as JsonObject;
export const BIG = "ä".repeat(BIG_VALUE_UNITS + 1);

export const REQUEST: RunRequest = { ...plainRequest, interruptAfter: "*" };

export const newThread = (changes: Partial<Thread> = {}): Thread => threadRecord({ threadId: newId(), ...changes });

export const newRun = (threadId: string, changes: Partial<Run> = {}): Run =>
  runRecord({ runId: newId(), threadId, request: REQUEST, ...changes });

export const newInterrupt = (threadId: string, interruptId: string, changes: Partial<Interrupt> = {}): Interrupt =>
  interruptRecord({ threadId, interruptId, ns: ["a:1", "b:2"], ...changes });

/** A checkpoint with `values` in `small`, and references to values of earlier checkpoints in `from`. */
export function newCheckpoint(
  threadId: string,
  checkpointId: string,
  values: JsonObject,
  from: Readonly<Record<string, string>> = {},
  changes: Partial<Checkpoint> = {},
): Checkpoint {
  const own = Object.fromEntries(Object.keys(values).map((channel) => [channel, ""]));
  const body = JSON.stringify({ ts: "", versions: {}, seen: {}, from: { ...from, ...own } });
  const rest = { ns: "", parentId: null, runId: "r", fingerprint: "f", body, small: JSON.stringify(values) };
  return { threadId, checkpointId, ...rest, metadata: "{}", ...changes };
}

export const buildBlob = (threadId: string, data: string): Blob => ({ threadId, hash: contentHash(data), data });
export const set = (parts: Partial<WriteSet>): WriteSet => ({ checkpoints: [], writes: [], blobs: [], ...parts });
export const values = (stored: { readonly values: ReadonlyMap<string, { readonly json: Json }> } | null) =>
  stored === null ? null : Object.fromEntries([...stored.values].map(([channel, { json }]) => [channel, json]));

export const ALL: ThreadQuery = {
  scope: null,
  ids: null,
  idPrefix: null,
  status: null,
  metadata: null,
  limit: 100,
  offset: 0,
  search: [],
  sortBy: "created_at",
  descending: true,
};
