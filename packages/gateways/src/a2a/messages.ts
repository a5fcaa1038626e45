// Messages: a message of a client as the input of a run, and messages of the state as messages of the protocol.
import { type Message, type Part, Role } from "@a2a-js/sdk";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import { toContent, dataPart, objectsIn, toParts } from "./content.ts";

/** Texts and files are a message of the user, data objects are members of the input. */
export function buildInput({ messageId, parts }: Message): JsonObject {
  const content = toContent(parts);
  const messages = content === null ? {} : { messages: [{ role: "user", id: messageId, content }] };
  return { ...Object.assign({}, ...objectsIn(parts)), ...messages };
}

export interface MessagePlace {
  readonly contextId: string;
  readonly taskId: string;
}

export function message(
  role: Role,
  { contextId, taskId }: MessagePlace,
  { id, parts, metadata }: { readonly id: string; readonly parts: Part[]; readonly metadata?: JsonObject },
): Message {
  return { messageId: id, contextId, taskId, role, parts, metadata, extensions: [], referenceTaskIds: [] };
}

/** The input of a run, as its caller sent it: messages of the user, and the other members as data. */
export function messagesOfInput(input: Json, place: MessagePlace): Message[] {
  const { messages: list, ...rest } = isJsonObject(input) ? input : { value: input };
  const said = Array.isArray(list) ? (list as readonly Json[]).filter(isOfUser) : [];
  const data = Object.keys(rest).length === 0 || input === null ? [] : [dataPart(rest)];
  if (said.length === 0)
    return data.length === 0 ? [] : [message(Role.ROLE_USER, place, { id: `${place.taskId}.input`, parts: data })];
  return said.map((one, index) => {
    const parts = [...toParts(one["content"] ?? null), ...(index === said.length - 1 ? data : [])];
    const id = typeof one["id"] === "string" ? one["id"] : `${place.taskId}.input.${index}`;
    return message(Role.ROLE_USER, place, { id, parts });
  });
}

function isOfUser(one: Json): one is JsonObject {
  return isJsonObject(one) && (one["role"] === "user" || one["role"] === "human" || typeIn(one) === "human");
}

/** Messages that the agent added to the state since a message of the user, newest last. */
export function agentMessagesSince(values: Json, messageIds: ReadonlySet<string>): readonly JsonObject[] {
  const list = isJsonObject(values) ? values["messages"] : undefined;
  if (!Array.isArray(list)) return [];
  const all = (list as readonly Json[]).filter((one) => isJsonObject(one));
  const from = all.findLastIndex(({ id }) => typeof id === "string" && messageIds.has(id));
  return all.slice(from + 1).filter((one) => typeIn(one) === "ai");
}

/** Plain, or serialised by the library with its constructor. */
function typeIn({ type, role }: JsonObject): Json {
  if (type === "ai" || type === "AIMessageChunk" || role === "assistant") return "ai";
  return type ?? role ?? null;
}
