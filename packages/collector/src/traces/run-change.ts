// Run change: one upload's data of one run, before the merge with the stored row (parts → run change → store).
// The backend's ingest API has three forms (multipart, batch, single runs); all of them end here.
// Invariants:
//   - A field's JSON stays the text that arrived: readers see it as uploaded.
//   run-change.2. A run with a position follows the five rules of dotted_order, or its whole upload fails.
import { isJsonObject, type JsonObject } from "@holdpoint/base/json/json.ts";

export const FIELDS = ["inputs", "outputs", "events", "extra", "error", "serialized"] as const;
export type Field = (typeof FIELDS)[number];

export interface Attachment {
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

export interface RunChange {
  readonly event: "post" | "patch";
  readonly runId: string;
  /** The run without its large fields. */
  readonly main: JsonObject;
  /** JSON text of the fields in this upload. */
  readonly fields: Readonly<Partial<Record<Field, string>>>;
  readonly attachments: readonly Attachment[];
}

/** The upload breaks a rule of the API: the sender gets 422. */
export class UploadError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UploadError";
  }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const RUNS_MAX = 10_000;

/** `{"post": [runs], "patch": [runs]}`, large fields inline. @throws {UploadError} */
export function changesOfBatch(body: unknown): readonly RunChange[] {
  if (!isJsonObject(body)) throw new UploadError("the body is not an object");
  const { post = [], patch = [] } = body;
  if (!Array.isArray(post) || !Array.isArray(patch)) throw new UploadError("post and patch must be lists of runs");
  if (post.length + patch.length > RUNS_MAX) throw new UploadError(`more than ${RUNS_MAX} runs in one upload`);
  return [
    ...(post as readonly unknown[]).map((run) => changeOfRun("post", run, null)),
    ...(patch as readonly unknown[]).map((run) => changeOfRun("patch", run, null)),
  ];
}

/** @param pathId the id in the URL of `PATCH /runs/{id}` @throws {UploadError} */
export function changeOfRun(event: RunChange["event"], run: unknown, pathId: string | null): RunChange {
  if (!isJsonObject(run)) throw new UploadError("a run must be an object");
  const main: Record<string, JsonObject[string]> = {};
  const fields: Partial<Record<Field, string>> = {};
  for (const [name, value] of Object.entries(run)) {
    if (value === null) continue;
    if (isField(name)) fields[name] = JSON.stringify(value);
    else main[name] = value;
  }
  const id = pathId ?? run["id"];
  return checked({ event, runId: typeof id === "string" ? id : "", main, fields, attachments: [] });
}

/** One part of a multipart upload: `post.<run id>`, `patch.<run id>.inputs`, `attachment.<run id>.<name>`. */
export interface Part {
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/** @throws {UploadError} */
export function changesOfParts(parts: Iterable<Part>): readonly RunChange[] {
  const open = new Map<string, { change: RunChange; fields: Partial<Record<Field, string>>; files: Attachment[] }>();
  for (const { name, type, bytes } of parts) {
    const [event = "", runId = "", ...rest] = name.split(".");
    if (event === "feedback") continue; // the store keeps no scores
    if (event === "attachment") {
      const run = open.get(`post.${runId}`) ?? open.get(`patch.${runId}`);
      if (run === undefined) throw new UploadError(`${name} came before the main part of its run`);
      run.files.push({ name: rest.join("."), type, bytes });
      continue;
    }
    if (event !== "post" && event !== "patch") throw new UploadError(`the part ${name} has an unknown name`);
    const key = `${event}.${runId}`;
    const field = rest[0];
    const value = parsed(bytes, name);
    if (field === undefined) {
      if (open.has(key)) throw new UploadError(`${name} came twice`);
      if (open.size >= RUNS_MAX) throw new UploadError(`more than ${RUNS_MAX} runs in one upload`);
      if (!isJsonObject(value)) throw new UploadError(`${name} is not an object`);
      const inline = changeOfRun(event, { ...value, id: runId }, null);
      const fields = { ...inline.fields };
      const files: Attachment[] = [];
      open.set(key, { change: { ...inline, fields, attachments: files }, fields, files });
      continue;
    }
    const run = open.get(key);
    if (run === undefined) throw new UploadError(`${name} came before the main part of its run`);
    if (!isField(field)) throw new UploadError(`${name} is not a field of a run`);
    if (value !== null) run.fields[field] = bytes.toString("utf8");
  }
  return [...open.values()].map(({ change }) => change);
}

function parsed(bytes: Buffer, name: string): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new UploadError(`${name} is not valid JSON`);
  }
}

function isField(name: string): name is Field {
  return (FIELDS as readonly string[]).includes(name);
}

/** run-change.2, with the backend's own messages. */
function checked(change: RunChange): RunChange {
  const { runId, main, event } = change;
  if (!UUID.test(runId)) throw new UploadError(`"${runId}" is not a run id`);
  const { dotted_order: order, trace_id: traceId, parent_run_id: parent } = main;
  if (order === undefined && event === "patch") return change;
  if (typeof order !== "string" || typeof traceId !== "string")
    throw new UploadError(`run ${runId} must have trace_id and dotted_order`);
  const ids = order.split(".").map((segment) => segment.slice(segment.indexOf("Z") + 1));
  if (ids.at(-1) !== runId) throw new UploadError(`dotted_order of run ${runId} does not end in its id`);
  if (ids[0] !== traceId) throw new UploadError("trace_id does not match first part of dotted_order");
  const isRoot = parent === undefined;
  if (isRoot && ids.length !== 1) throw new UploadError("dotted_order must contain a single part for root runs");
  if (!isRoot && ids.length < 2) throw new UploadError("dotted_order must contain at least two parts for child runs");
  if (!isRoot && ids.at(-2) !== parent)
    throw new UploadError("parent_run_id does not match the second to last part of dotted_order");
  return change;
}
