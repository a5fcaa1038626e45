// Operation: one call of the API contract. The same schemas validate requests and generate the OpenAPI document.
// The pieces:
//   operation.ts      one call: path, schemas, access
//   schemas.ts        objects that several calls share
//   member-size.ts    the limit of members that are small by nature
//   assistants.ts     calls of assistants
//   threads.ts        calls of threads and their state
//   runs.ts           calls of runs on a thread
//   stateless.ts      calls of stateless runs, and of runs across threads
//   streams.ts        event streams of runs and threads
//   protocol.ts       the thread protocol
//   inbox.ts          the inbox, and the audit trail of a thread
//   audit.ts          the audit trail of all threads
//   items/            assignments, follow-up dates and comments of inbox items
//   requests.ts       questions of any program
//   policies.ts       answers in advance
//   inbox-filter.ts   the query of the inbox's list
//   crons.ts          calls of crons
//   store.ts          calls of the store
//   identity.ts       people, keys of programs
//   traces/           reply objects of the trace store, costs and times
//   meta.ts           health, version, metrics
//   dialects.ts       formats in which graphs ask people and expect answers
//   person-only.ts    questions that only people may answer
//   answer-rules.ts   schemas of the answers to payloads of these formats
//   text/             titles of payloads, hidden characters
//   notes/            the texts of the document
//   task-state.ts     states of A2A tasks
//   docs-page/        the document, and the page `/docs`
import * as z from "zod";
import { ApiError, type ErrorCode } from "@holdpoint/base/api-error.ts";
import { isUuid } from "@holdpoint/base/ids.ts";

type Resource = "threads" | "assistants" | "crons";
type ResourceAction = "create" | "read" | "update" | "delete" | "search";

/** Action of a call, in the terms of the SDK's `Auth`: the resource and action that its handlers check. */
export type AccessEvent =
  | `${Resource}:${ResourceAction}`
  | "threads:create_run"
  /** Answers to open questions, and nothing else. */
  | "threads:answer"
  /** Work on a question without an answer: claim, release, assign, follow-up date, comment. */
  | "threads:claim"
  /** The right to bypass a review: switch breakpoints off, or edit the state as a node that asks. */
  | "threads:bypass"
  /** The right to set the default answer of an assistant's interrupts. */
  | "assistants:administrate"
  /** Questions of programs, and nothing else. */
  | "requests:create"
  | "requests:read"
  | "requests:search"
  | "requests:cancel"
  /** Answers in advance: policies. */
  | "policies:create"
  | "policies:search"
  | "policies:delete"
  /** The right to write policies for dangerous questions, four eyes and several approvals. */
  | "policies:administrate"
  | "acts:search"
  | "keys:create"
  | "keys:search"
  | "keys:delete"
  | "people:search"
  | "people:delete"
  | "store:put"
  | "store:get"
  | "store:search"
  | "store:list_namespaces"
  | "store:delete";

/** `public`: no authentication. `authenticated`: any authenticated caller. Otherwise handlers decide per call. */
export type AccessRule = "public" | "authenticated" | AccessEvent;

export interface Operation<Query, Body> {
  readonly id: string;
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** `/threads/{thread_id}`: names ending in `_id` are UUIDs, except `assistant_id`. */
  readonly path: string;
  readonly summary: string;
  readonly tag: string;
  readonly access: AccessRule;
  readonly query: z.ZodType<Query>;
  readonly body: z.ZodType<Body>;
  /** Members of the body that may be as long as a body; all others are small (member-size.ts). */
  readonly large: readonly string[];
  readonly reply: { readonly status: number; readonly description: string; readonly schema: z.ZodType | null };
  readonly refusals: readonly ErrorCode[];
  /** The code for an id in the path that is no UUID; null: that of an unknown id. */
  readonly malformedId: ErrorCode | null;
}

export type AnyOperation = Operation<unknown, unknown>;

const NO_QUERY = z.object({});
const NO_BODY = z.unknown();

interface Contract<Query, Body> {
  readonly summary: string;
  readonly tag: string;
  readonly access: AccessRule;
  readonly query?: z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  readonly large?: readonly string[];
  readonly reply: z.ZodType | null;
  readonly status?: number;
  readonly description?: string;
  readonly refusals?: readonly ErrorCode[];
  readonly malformedId?: ErrorCode;
}

export function operation<Query = object, Body = unknown>(
  id: string,
  method: Operation<Query, Body>["method"],
  path: string,
  contract: Contract<Query, Body>,
): Operation<Query, Body> {
  return {
    id,
    method,
    path,
    summary: contract.summary,
    tag: contract.tag,
    access: contract.access,
    query: contract.query ?? (NO_QUERY as unknown as z.ZodType<Query>),
    body: contract.body ?? (NO_BODY as z.ZodType<Body>),
    large: contract.large ?? [],
    reply: {
      status: contract.status ?? 200,
      description: contract.description ?? "Done",
      schema: contract.reply,
    },
    refusals: contract.refusals ?? [],
    malformedId: contract.malformedId ?? null,
  };
}

export function takesBody(one: AnyOperation): boolean {
  return one.body !== NO_BODY;
}

interface Fault {
  readonly path: string;
  readonly message: string;
}

/** @throws {ApiError} `invalid_request` with every invalid field. */
export function parse<T>(schema: z.ZodType<T>, value: unknown, where: "body" | "query"): T {
  const result = schema.safeParse(value);
  const renamed = misspeltMembers(schema, value);
  if (result.success && renamed.length === 0) return result.data;
  const others = result.error?.issues.flatMap(faultsIn) ?? [];
  const errors = [...renamed, ...others.filter(({ path }) => !renamed.some((one) => one.path === path))];
  const first = errors[0];
  const field = first === undefined || first.path === "" ? where : `${where} field ${first.path}`;
  throw new ApiError("invalid_request", `${field}: ${first?.message ?? "has the wrong shape"}`, { errors });
}

function faultsIn(issue: z.core.$ZodIssue): readonly Fault[] {
  return issue.code === "unrecognized_keys"
    ? issue.keys.map((key) => ({ path: [...issue.path, key].join("."), message: "unknown member" }))
    : [{ path: issue.path.join("."), message: issue.message }];
}

/** `asNode` for `as_node`. Other unknown members are ignored, but `onPaused: "reject"` must not give a question up. */
function misspeltMembers(schema: z.ZodType, value: unknown): readonly Fault[] {
  if (!(schema instanceof z.ZodObject) || typeof value !== "object" || value === null) return [];
  const isMember = (name: string): boolean => Object.hasOwn(schema.shape, name);
  return Object.keys(value).flatMap((path) => {
    const name = path.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return !isMember(path) && isMember(name) ? [{ path, message: `is named ${name} here` }] : [];
  });
}

const MISSING: Readonly<Record<string, ErrorCode>> = {
  thread_id: "thread_not_found",
  run_id: "run_not_found",
  checkpoint_id: "checkpoint_not_found",
  cron_id: "cron_not_found",
  key_id: "key_not_found",
  request_id: "request_not_found",
  policy_id: "policy_not_found",
};

/** Unless the operation says otherwise, a malformed id gets the reply of an unknown one. Ids are lower case from here on. */
export function parsePathIds(
  params: Readonly<Record<string, string>>,
  { malformedId }: Pick<AnyOperation, "malformedId">,
): Readonly<Record<string, string>> {
  const ids: Record<string, string> = {};
  for (const [name, value] of Object.entries(params)) {
    const code = MISSING[name];
    if (code !== undefined && !isUuid(value)) throw new ApiError(malformedId ?? code, `${name} is not a UUID.`);
    ids[name] = code === undefined ? value : value.toLowerCase();
  }
  return ids;
}
