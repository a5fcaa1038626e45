// Value codec: the values of a graph's state ↔ the texts that are stored, and their form for clients.
// The pieces:
//   encode-tree.ts    live values → tagged JSON, and the error for values without a stored form
//   decode-tree.ts    tagged JSON → live values
//   client-json.ts      live values → the JSON of replies and events
//   message-codec.ts  LangChain's message classes ↔ flat records
//   plain-values.ts   the check for values that JSON alone keeps
//   value-codec.ts    the codec over them, at once or in slices of the event loop
// Invariants:
//   value-codec.1. decode(encode(x)) equals x, also for objects that look like our tag or like another library's
//        marker.
//   value-codec.2. Stored or received data never names a class, a module or a function: decode-tree.ts has the list of
//        types.
//   value-codec.3. Functions, symbols and cycles fail with their path before any write.
import { mayHoldTags, TAG, type Encoded, type Stored } from "../../../agent/model/model.ts";
import type { Json } from "../../../base/json/json.ts";
import { lazyJson } from "../../../base/lazy-json.ts";
import { type JsonWriter, type ValuePath, writeInSlices } from "../../../base/stringify-in-slices.ts";
import type { Library } from "../../langgraph/library.ts";
import { decodeTree } from "./decode-tree.ts";
import { type CodecClasses, NotSerialisableError, encodeTree } from "./encode-tree.ts";
import { type MessageCodec, createMessageCodec } from "./message-codec.ts";
import { hasJsonForm, isPlain, isPlainObject } from "./plain-values.ts";
import { clientJson } from "./client-json.ts";

export interface Codec {
  /** @throws {NotSerialisableError} value-codec.3. `at` begins the path in the message. */
  encode(value: unknown, at?: readonly string[]): Encoded;
  /** As encode(), with a turn of the event loop between the pieces of a long value. */
  encodeInSlices(value: unknown, at?: readonly string[]): Promise<Encoded>;
  decode(stored: Stored): unknown;
  parse(encoded: Encoded): Stored;
  /** The form for clients: messages flat, dates as text, values without a JSON form as null. */
  toClientJson(value: unknown): Json;
  clientText(value: unknown): string;
  /** As clientText(), with a turn of the event loop between the pieces of a long value. */
  clientTextInSlices(value: unknown): Promise<string>;
}

export function createCodec(library: Library): Codec {
  const messages = createMessageCodec(library.messages);
  const { Send, Command, Overwrite } = library.langgraph;
  const classes: CodecClasses = { messages, Send, Command, Overwrite, Document: library.Document };
  const encoder = encodingWriter(classes);
  const clientWriter = clientWriterOf(messages);
  const toClientJson = (value: unknown): Json => clientJsonOf(messages, value) ?? null;
  return {
    toClientJson,
    parse: (encoded) => Object.assign(lazyJson(encoded), { tagged: mayHoldTags(encoded) }),
    encode: (value, at = []) => encode(classes, value, at),
    encodeInSlices: async (value, at = []) => (await writeInSlices(value, encoder, at)) ?? "null",
    clientTextInSlices: async (value) => (await writeInSlices(value, clientWriter)) ?? "null",
    decode: (stored) => (stored.tagged ? decodeTree(classes, stored.json) : stored.json),
    clientText: (value) => JSON.stringify(toClientJson(value)),
  };
}

function encode(classes: CodecClasses, value: unknown, at: ValuePath): Encoded {
  if (isPlain(value)) return JSON.stringify(value);
  return JSON.stringify(encodeTree({ classes, path: [...at], ancestors: new Set() }, value));
}

function encodingWriter(classes: CodecClasses): JsonWriter {
  return {
    text: (value, path) => encode(classes, value, path ?? []),
    items(items, from, path) {
      try {
        return encode(classes, items, path);
      } catch (error) {
        items.forEach((item, at) => encode(classes, item, [...path, from + at])); // fails with the item's own index
        throw error;
      }
    },
    splits: (object) => isPlainObject(object) && !hasJsonForm(object) && !Object.hasOwn(object, TAG),
    cycle(path) {
      throw new NotSerialisableError("a cycle", path);
    },
  };
}

function clientJsonOf(messages: MessageCodec, value: unknown): Json | undefined {
  return isPlain(value) ? (value as Json) : clientJson(messages, value, new Set());
}

function clientWriterOf(messages: MessageCodec): JsonWriter {
  return {
    text: (value) => JSON.stringify(clientJsonOf(messages, value)),
    items: (items) => JSON.stringify(clientJsonOf(messages, items) ?? null),
    splits: (object) => isPlainObject(object) && !hasJsonForm(object),
    cycle: () => "null",
  };
}
