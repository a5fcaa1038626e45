// Value codec: the values of a graph's state ↔ the texts that are stored, and their form for clients.
// The pieces:
//   encode-tree.ts    live values → tagged JSON, and the error for values without a stored form
//   decode-tree.ts    tagged JSON → live values
//   message-codec.ts  LangChain's message classes ↔ flat records
//   plain-values.ts   the check for values that JSON alone keeps
//   value-codec.ts    the codec over them
// Invariants:
//   value-codec.1. decode(encode(x)) equals x, also for objects that look like our tag or like another library's
//        marker.
//   value-codec.2. Stored or received data never names a class, a module or a function: decode-tree.ts has the list of
//        types.
//   value-codec.3. Functions, symbols and cycles fail with their path before any write.
import { type Encoded, parseStored, type Stored } from "../../../model/model.ts";
import type { Json } from "@holdpoint/base/json/json.ts";
import type { Library } from "../../langgraph/library.ts";
import { decodeTree } from "./decode-tree.ts";
import { type CodecClasses, encodeTree } from "./encode-tree.ts";
import { type MessageCodec, createMessageCodec } from "./message-codec.ts";
import { base64, fromEntries, hasJsonForm, isPlain } from "./plain-values.ts";

export interface Codec {
  /** @throws {NotSerialisableError} value-codec.3. `at` begins the path in the message. */
  encode(value: unknown, at?: readonly string[]): Encoded;
  decode(stored: Stored): unknown;
  parse(encoded: Encoded): Stored;
  /** The form for clients: messages flat, dates as text, values without a JSON form as null. */
  toClientJson(value: unknown): Json;
  clientText(value: unknown): string;
}

export function createCodec(library: Library): Codec {
  const messages = createMessageCodec(library.messages);
  const { Send, Command, Overwrite } = library.langgraph;
  const classes: CodecClasses = { messages, Send, Command, Overwrite, Document: library.Document };
  const toClientJson = (value: unknown): Json =>
    isPlain(value) ? (value as Json) : (clientJson(messages, value, new Set()) ?? null);
  return {
    toClientJson,
    parse: parseStored,
    encode: (value, at = []) => encode(classes, value, at),
    decode: (stored) => (stored.tagged ? decodeTree(classes, stored.json) : stored.json),
    clientText: (value) => JSON.stringify(toClientJson(value)),
  };
}

function encode(classes: CodecClasses, value: unknown, at: readonly string[]): Encoded {
  if (isPlain(value)) return JSON.stringify(value);
  return JSON.stringify(encodeTree({ classes, path: [...at], ancestors: new Set() }, value));
}

/**
 * A live value → the JSON that clients see. A value without a JSON form is left out of an object and null in a list; so
 * is a cycle.
 */
function clientJson(messages: MessageCodec, value: unknown, ancestors: Set<object>): Json | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value !== "object") return undefined;
  if (ancestors.has(value)) return null;
  ancestors.add(value);
  const result = clientObject(messages, value, ancestors);
  ancestors.delete(value);
  return result;
}

function clientObject(messages: MessageCodec, value: object, ancestors: Set<object>): Json | undefined {
  if (Array.isArray(value) || value instanceof Map || value instanceof Set) {
    return Array.from(value as Iterable<unknown>, (item) => clientJson(messages, item, ancestors) ?? null);
  }
  if (messages.isMessage(value)) return clientMembers(messages, messages.toClientJson(value), ancestors);
  if (ArrayBuffer.isView(value)) return base64(value);
  if (value instanceof Error) return clientMembers(messages, errorMembers(value), ancestors);
  if (value instanceof RegExp) return String(value);
  if (hasJsonForm(value)) return clientJson(messages, value.toJSON(), ancestors);
  return clientMembers(messages, value, ancestors);
}

function errorMembers({ name, message, code }: Error & { readonly code?: unknown }): object {
  return { name, message, code: typeof code === "string" || typeof code === "number" ? code : undefined };
}

function clientMembers(messages: MessageCodec, object: object, ancestors: Set<object>): Json {
  const entries: (readonly [string, Json])[] = [];
  for (const [key, member] of Object.entries(object)) {
    const shown = clientJson(messages, member, ancestors);
    if (shown !== undefined) entries.push([key, shown]);
  }
  return fromEntries(entries);
}
