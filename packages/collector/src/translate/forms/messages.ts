// Messages: every sender's way of writing a chat message → {role, content, tool_calls?, tool_call_id?, name?, …}.
// Content is a string when it is one piece of text, else a list of blocks. Unknown parts stay unchanged. Invariants:
//   - Every part stays: text, calls and results in their fields, all others in `content`.
//   - A message that already has the target form comes back as the same object, and a list of such messages as the same
//     list.
//   - Blocks that stand in a list without a message around them are one message: calls and reasoning of the assistant,
//     a result its own.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { isObject } from "../attributes/plain-values.ts";
import { mergeContent, type Part, readPart } from "./block-forms.ts";
import { withRest } from "./members.ts";
import { asList, openCut, startsBlocks, startsList, takeCalls, takeParts, takeTool } from "./message-fields.ts";
import { looksLikeMessages, readBare } from "./message-shapes.ts";
import { openMessage } from "./open-message.ts";
import { contentWithin } from "./python-text.ts";
import { toRole } from "./roles.ts";
import { isAnsweredCall, joinCalls, splitToolPart } from "./tool-forms.ts";

/** A list of messages, a single one, blocks, or text → messages in the target form. */
export function listMessages(value: Json, role = "user"): readonly Json[] {
  const given = Array.isArray(value) ? (value as readonly Json[]) : [value];
  if (given.every(isWritten)) return given; // at the least cost: most messages are such
  const list = given.some(isAnsweredCall) ? given.flatMap(splitToolPart) : given;
  const written = list.length === 1 ? readWrittenOut(list[0] ?? null) : null;
  if (written !== null) return listMessages(written, role);
  const bare = list.map(readBare);
  const areAssistants =
    bare.some((one) => one !== null && isAssistants(one)) && bare.every((one) => one?.kind !== "result");
  const own = areAssistants && bare.every((one) => one !== null) ? "assistant" : role;
  const out: Json[] = [];
  let joins = false; // the last message and a bare block are one
  for (const [at, item] of list.entries()) {
    const part = bare[at] ?? null;
    const made = part === null ? readMessage(item, role) : [writeBare(part, own)];
    const isOpen = part === null ? isItem(item) : part.kind !== "result";
    const last = out.at(-1);
    const first = made[0];
    if (joins && isOpen && isObject(last) && isObject(first) && last["role"] === first["role"])
      out.splice(-1, 1, joinMessages(last, first));
    else out.push(...made);
    joins = isOpen;
  }
  return Array.isArray(value) && out.length === value.length && out.every((one, at) => one === value[at]) ? list : out;
}

const WRITTEN_ROLES: ReadonlySet<Json | undefined> = new Set(["system", "developer", "user", "assistant"]);
const WRITTEN: ReadonlySet<string> = new Set(["role", "content", "finish_reason"]);

/** A text in the target form, with nothing to read beside it. */
function isWritten(item: Json): boolean {
  if (!isObject(item)) return false;
  const { role, content } = item;
  if (typeof content !== "string" || !WRITTEN_ROLES.has(role)) return false;
  for (const name of Object.keys(item)) if (!WRITTEN.has(name)) return false;
  return !startsBlocks(content);
}

/** A whole conversation as the only text of a message of the user's: OpenLLMetry writes the items of Responses so. */
function readWrittenOut(item: Json): readonly JsonObject[] | null {
  if (!isObject(item) || item["role"] !== "user") return null;
  const { role: _role, content, parts = content, ...more } = item;
  if (Object.keys(more).length > 0 || (content !== undefined && parts !== content)) return null;
  const text = Array.isArray(parts) && parts.length === 1 ? readText((parts as readonly Json[])[0]) : parts;
  if (typeof text !== "string" || !startsList(text)) return null;
  const list = contentWithin(text);
  return looksLikeMessages(list) && list.some(({ role }) => typeof role === "string") ? list : null;
}

function readText(part: Json | undefined): Json | undefined {
  return isObject(part) ? (part["text"] ?? part["content"]) : part;
}

/** Messages of the assistant that follow each other, as one: items of one answer. */
export function joinNeighbours(messages: readonly Json[]): readonly Json[] {
  const out: Json[] = [];
  for (const message of messages) {
    const last = out.at(-1);
    if (isObject(last) && isObject(message) && last["role"] === "assistant" && message["role"] === "assistant")
      out.splice(-1, 1, joinMessages(last, message));
    else out.push(message);
  }
  return out;
}

/** An item of OpenAI's Responses, which its neighbours continue. */
function isItem(item: Json): boolean {
  return isObject(item) && item["type"] === "message" && item["role"] === "assistant";
}

function isAssistants({ kind, form }: Part): boolean {
  return kind === "call" || form === "reasoning" || form === "refusal" || form === "item";
}

function writeBare(part: Part, role: string): Json {
  if (part.kind === "result") return part.value;
  if (part.kind === "call") return { role: "assistant", content: "", tool_calls: [part.value] };
  return { role: isAssistants(part) ? "assistant" : role, content: mergeContent([part.value]) };
}

const JOINED: ReadonlySet<string> = new Set(["role", "content", "tool_calls"]);

function joinMessages(message: JsonObject, next: JsonObject): JsonObject {
  const calls = joinCalls(asList(message["tool_calls"]) ?? [], asList(next["tool_calls"]) ?? []);
  const blocks = [...listBlocks(message["content"]), ...listBlocks(next["content"])];
  const made = { ...message, content: mergeContent(blocks), ...(calls.length > 0 ? { tool_calls: calls } : {}) };
  return withRest(made, next, JOINED);
}

function listBlocks(content: Json | undefined): readonly Json[] {
  if (content === undefined || content === "" || content === null) return [];
  return Array.isArray(content) ? (content as readonly Json[]) : [readPart(content).value];
}

function readMessage(item: Json, defaultRole: string): readonly Json[] {
  if (!isObject(item)) return item === null ? [] : [{ role: defaultRole, content: item }];
  const message = openCut(openMessage(item));
  const { role: given } = message;
  const role = typeof given === "string" ? toRole(given) || given : defaultRole;
  const used = new Set<string>();
  const tool = role === "tool" ? takeTool(message, used) : null;
  const calls = takeCalls(message, used);
  const parts = takeParts(message, used);
  if (parts === null) {
    const isSame = message === item && role === given && calls === null && tool === null;
    if (isSame) return [item];
    const own = calls === null ? {} : { tool_calls: calls };
    return [withRest({ role, ...tool, ...own }, message, new Set([...used, "role"]))];
  }
  return assembleParts({ message, role, calls, tool, used }, parts);
}

const NONE: ReadonlySet<string> = new Set();

interface Assembled {
  readonly message: JsonObject;
  readonly role: string;
  readonly calls: readonly Json[] | null;
  readonly tool: JsonObject | null;
  readonly used: ReadonlySet<string>;
}

function assembleParts(given: Assembled, parts: readonly Part[]): readonly Json[] {
  const { message, role, calls: own, tool, used } = given;
  const values = (kind: Part["kind"]): readonly Json[] =>
    parts.filter((one) => one.kind === kind).map((one) => one.value);
  const [blocks, called, results] = [values("block"), values("call"), values("result") as readonly JsonObject[]];
  const before = own ?? asList(message["tool_calls"]) ?? [];
  const next = before.length > 0 ? -1 : findNextTurn(parts);
  if (next !== -1)
    return [
      ...assembleParts({ ...given, message: { role }, used: NONE }, parts.slice(0, next)),
      ...assembleParts(given, parts.slice(next)),
    ];
  const { role: word, ...members } = withRest({}, message, used);
  const isKnown =
    word === undefined || (typeof word === "string" && (called.length + blocks.length > 0 || toRole(word) !== ""));
  const said = withoutNothing(members);
  const rest = isKnown ? said : { ...said, original_role: word };
  if (blocks.length === 0 && called.length === 0 && own === null && results.length > 0)
    return results.map((one, at) => (at > 0 ? one : withRest(one, { ...tool, ...rest }, NONE)));
  const calls = joinCalls(before, called);
  const usedMembers = calls.length > 0 ? new Set(["tool_calls"]) : NONE;
  const made: JsonObject = {
    role,
    ...tool,
    content: mergeContent(blocks),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  const isOwnList = Array.isArray(rest["tool_calls"]);
  const whole = withRest(made, rest, isOwnList ? usedMembers : NONE);
  return parts[0]?.kind === "result" ? [...results, whole] : [whole, ...results];
}

/** Where a part follows the results of what was said before; -1: nowhere. */
function findNextTurn(parts: readonly Part[]): number {
  const first = parts.findIndex(({ kind }) => kind !== "result");
  const result = parts.findIndex(({ kind }, at) => at > first && kind === "result");
  return first === -1 || result === -1 ? -1 : parts.findIndex(({ kind }, at) => at > result && kind !== "result");
}

/** Haystack and Strands write a name of null and an empty `meta`. */
function withoutNothing({ name, meta, ...members }: JsonObject): JsonObject {
  const isEmpty = meta === undefined || meta === null || (isObject(meta) && Object.keys(meta).length === 0);
  return { ...(name === undefined || name === null ? {} : { name }), ...(isEmpty ? {} : { meta }), ...members };
}
