// Ask tools: `ask_human` and `approve`, which put a request to people and wait for its end.
// Invariants:
//   ask-tools.1. A call that is repeated with the same arguments finds its request while that is open, and once after its
//        end, so a client or a server that died loses nothing. An answer that was handed out answers no later call.
//        It finds no request of another caller, and none with another question.
//   - Only people answer: the payload says so (api/person-only.ts), and the tool `resume` keeps to it.
import { isDeepStrictEqual } from "node:util";
import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import type { RequestObject } from "@holdpoint/api/requests.ts";
import type { Clock } from "@holdpoint/base/clock.ts";
import { contentHash } from "@holdpoint/base/ids.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { OwnApi } from "../calls/own-api.ts";
import type { AskedForms } from "./asked-forms.ts";
import { ANY_TYPE } from "./tool-schema.ts";

export const ASK_HUMAN: Tool = {
  name: "ask_human",
  title: "Ask a person",
  description: "Asks a person a question, and waits for the answer, for as long as it takes.",
  inputSchema: {
    type: "object",
    properties: {
      question: { type: "string", minLength: 1, description: "The question, in plain words." },
      choices: { type: "array", items: { type: "string" }, minItems: 1, description: "The answers to choose from." },
      schema: { type: "object", description: "JSON Schema of the answer; instead of choices." },
      timeout_seconds: { type: "number", exclusiveMinimum: 0, description: "When the question expires." },
    },
    required: ["question"],
  },
  outputSchema: {
    type: "object",
    properties: {
      status: { type: "string", enum: ["answered", "expired", "cancelled"] },
      answer: { type: [...ANY_TYPE] },
      answered_by: { type: "string" },
      request_id: { type: "string" },
      link: { type: "string" },
    },
    required: ["status"],
  },
  annotations: { title: "Ask a person", readOnlyHint: true, openWorldHint: true },
};

export const APPROVE: Tool = {
  name: "approve",
  title: "Let a person approve a tool call",
  description:
    'The permission prompt of a coding agent: a person approves, edits or rejects a tool call. The result is {"behavior": "allow", "updatedInput": …} or {"behavior": "deny", "message": "…"}.',
  inputSchema: {
    type: "object",
    properties: {
      tool_name: { type: "string", minLength: 1 },
      input: { type: "object", description: "The arguments of the tool." },
      tool_use_id: { type: "string", description: "Names the tool call." },
    },
    required: ["tool_name", "input"],
  },
  annotations: { title: "Let a person approve a tool call", readOnlyHint: true, openWorldHint: true },
};

export interface AskTool {
  readonly tool: Tool;
  /** @returns the body of the request; a text for wrong arguments */
  readonly body: (args: JsonObject) => JsonObject | string;
  readonly result: (request: RequestObject) => CallToolResult;
}

const ASK_TOOLS: readonly AskTool[] = [
  { tool: ASK_HUMAN, body: questionBody, result: questionResult },
  { tool: APPROVE, body: approvalBody, result: approvalResult },
];

export function findAskTool(name: string): AskTool | null {
  return ASK_TOOLS.find(({ tool }) => tool.name === name) ?? null;
}

export interface AskCall {
  readonly api: OwnApi;
  /** Its name; `""` without authentication. */
  readonly caller: string;
  readonly clock: Pick<Clock, "now">;
  /** Which ends were handed out. */
  readonly marks: AskedForms;
  readonly signal: AbortSignal;
}

/** @throws {ApiRefusal} */
export async function callAskTool(call: AskCall, tool: AskTool, args: JsonObject): Promise<CallToolResult> {
  const asked = await askRequest(call, tool, args);
  if (typeof asked === "string") return { content: [{ type: "text", text: asked }], isError: true };
  return readEnd(call, tool, asked);
}

/** The request of the call. @returns a text for wrong arguments @throws {ApiRefusal} */
export async function askRequest(
  call: AskCall,
  { tool, body }: AskTool,
  args: JsonObject,
): Promise<RequestObject | string> {
  const asked = body(args);
  if (typeof asked === "string") return asked;
  return findOrAsk(call, contentHash(JSON.stringify([tool.name, args])).slice(0, 32), asked);
}

/** Waits for the end of the request, and hands it out. @throws {ApiRefusal} */
export async function readEnd(call: AskCall, { result }: AskTool, asked: RequestObject): Promise<CallToolResult> {
  const request = await waitForEnd(call, asked);
  await call.marks.note(deliveryMark(request)); // ask-tools.1
  return result(request);
}

const deliveryMark = ({ request_id: id }: RequestObject): string => `end of ${id}`;

/** Marks live longer. */
const REPEATED_MS_MAX = 24 * 60 * 60 * 1000;

/** ask-tools.1. */
async function findOrAsk(call: AskCall, key: string, body: JsonObject): Promise<RequestObject> {
  const { api, caller, clock, marks, signal } = call;
  const metadata = { asked_as: key };
  const own = caller === "" ? metadata : { ...metadata, requested_by: caller };
  const found = await api.call("POST", "/requests/search", { body: { metadata: own, limit: 1 }, signal });
  const [last] = (found as unknown as { readonly items: readonly RequestObject[] }).items;
  if (last !== undefined && asksTheSame(last, body, caller)) {
    const isRecent = last.ended_at === null || Date.parse(last.ended_at) > clock.now() - REPEATED_MS_MAX;
    if (last.status === "open" || (isRecent && !(await marks.has(deliveryMark(last))))) return last;
  }
  const idempotencyKey = `mcp ${key} ${last?.request_id ?? ""}`; // two calls at the same time ask one question
  const asked = await api.call("POST", "/requests", { body: { ...body, metadata }, idempotencyKey, signal });
  return asked as unknown as RequestObject;
}

function asksTheSame(last: RequestObject, { payload, response_schema: schema }: JsonObject, caller: string): boolean {
  if (caller !== "" && last.requested_by !== caller) return false;
  const declares = isJsonObject(schema) && Object.keys(schema).length > 0; // the server derives one otherwise
  return isSame(payload, last.payload) && (!declares || isSame(schema, last.response_schema));
}

/** As JSON: -0 is 0. */
function isSame(asked: unknown, stored: unknown): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(asked)), stored);
}

const WAIT_SECONDS = 30;

async function waitForEnd({ api, signal }: AskCall, asked: RequestObject): Promise<RequestObject> {
  let request = asked;
  while (request.status === "open") {
    const path = `/requests/${request.request_id}?wait=${WAIT_SECONDS}`;
    signal.throwIfAborted();
    request = (await api.call("GET", path, { signal })) as unknown as RequestObject;
  }
  return request;
}

/** Author of a default answer. These tools give none, so it is nobody's answer to their call. */
const BY_DEADLINE = "deadline";

const nameEnd = (status: RequestObject["status"], by: string | undefined): RequestObject["status"] =>
  by === BY_DEADLINE ? "expired" : status;

const FOR_PEOPLE = { audience: "human" };

function questionBody({ question, choices, schema, timeout_seconds: timeout }: JsonObject): JsonObject | string {
  if (typeof question !== "string" || question === "") return "`question` is missing: it is a text.";
  const declared = choices === undefined ? schema : { enum: choices };
  return {
    payload: { question, ...FOR_PEOPLE },
    ...(declared === undefined ? {} : { response_schema: declared }),
    ...(timeout === undefined ? {} : { deadline: timeout }),
  };
}

function questionResult({ status, answer, answered_by: by, request_id: id, url }: RequestObject): CallToolResult {
  const value = (answer ?? null) as Json;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const end = nameEnd(status, by);
  const isAnswered = end === "answered";
  return {
    content: [{ type: "text", text: isAnswered ? text : `Nobody answered: the question was ${end}.` }],
    structuredContent: {
      status: end,
      request_id: id,
      link: url,
      ...(isAnswered ? { answer: value } : {}),
      ...(by === undefined ? {} : { answered_by: by }),
    },
    ...(isAnswered ? {} : { isError: true }),
  };
}

function approvalBody({ tool_name: name, input }: JsonObject): JsonObject | string {
  if (typeof name !== "string" || name === "") return "`tool_name` is missing: it is a text.";
  if (!isJsonObject(input)) return "`input` is missing: it is an object.";
  return {
    payload: {
      action_requests: [{ name, args: input }],
      review_configs: [{ action_name: name, allowed_decisions: ["approve", "edit", "reject"] }],
      ...FOR_PEOPLE,
    },
  };
}

/** What the person saw and approved: not what a repeat of the call says. */
function readInput(payload: unknown): Json {
  const { action_requests: [action] = [] } = payload as { readonly action_requests?: readonly JsonObject[] };
  return action?.["args"] ?? {};
}

interface Decided {
  readonly type: string;
  readonly edited_action?: { readonly args: JsonObject };
  readonly message?: string;
}

/** The form of the permission prompts of coding agents: JSON in a text. */
function approvalResult({ status, answer, answered_by: by, payload }: RequestObject): CallToolResult {
  const decision = (answer as { readonly decisions?: readonly Decided[] } | undefined)?.decisions?.[0];
  const decided = (behavior: JsonObject): CallToolResult => ({
    content: [{ type: "text", text: JSON.stringify(behavior) }],
  });
  if (nameEnd(status, by) !== "answered" || decision === undefined)
    return decided({ behavior: "deny", message: `Nobody approved it: the request was ${nameEnd(status, by)}.` });
  if (decision.type === "approve") return decided({ behavior: "allow", updatedInput: readInput(payload) });
  const edited = decision.edited_action?.args;
  if (decision.type === "edit" && edited !== undefined) return decided({ behavior: "allow", updatedInput: edited });
  return decided({ behavior: "deny", message: decision.message ?? "A person rejected it." });
}
