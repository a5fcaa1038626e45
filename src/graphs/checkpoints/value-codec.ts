// Value codec: live values of a graph ↔ the stored encoding, and → the wire.
// The stored encoding is JSON. A value without a JSON form is `{"$hp": <type>, "v": …}` with a type of a closed list.
// Invariants:
//   value-codec.1. decode(encode(x)) equals x, also for objects that look like our tag or like another library's
//        marker.
//   value-codec.2. Stored or received data never names a class, a module or a function: this file has the list of
//        types.
//   value-codec.3. Functions, symbols and cycles fail with their path before any write.
import { TAG, type Encoded, type Stored } from "../../agent/model/model.ts";
import type { Json } from "../../base/json/json.ts";
import { lazyJson } from "../../base/lazy-json.ts";
import { type JsonWriter, type ValuePath, writeSlowly } from "../../base/stringify-slowly.ts";
import type { Library } from "../langgraph/library.ts";
import { createMessageCodec } from "./message-codec.ts";

export class NotSerialisableError extends Error {
  constructor(what: string, path: readonly (string | number)[]) {
    super(`${what} at ${path.length === 0 ? "the top" : path.join(".")} cannot be stored`);
    this.name = "state_not_serialisable";
  }
}

export interface Codec {
  /** @throws {NotSerialisableError} value-codec.3. `at` begins the path in the message. */
  encode(value: unknown, at?: readonly string[]): Encoded;
  /** As encode(), with a turn of the event loop between the pieces of a long value. */
  encodeSlowly(value: unknown, at?: readonly string[]): Promise<Encoded>;
  decode(stored: Stored): unknown;
  parse(encoded: Encoded): Stored;
  /** The form for clients: messages flat, dates as text, values without a JSON form as null. */
  toWire(value: unknown): Json;
  wireText(value: unknown): string;
  /** As wireText(), with a turn of the event loop between the pieces of a long value. */
  wireTextSlowly(value: unknown): Promise<string>;
}

/** Below this depth the check looks for cycles; above it the plain check suffices. */
const PLAIN_LEVELS_MAX = 200;

type Path = (string | number)[];

export function createCodec(library: Library): Codec {
  const messages = createMessageCodec(library.messages);
  const { Send, Command, Overwrite } = library.langgraph;

  const tagged = (type: string, v?: unknown): unknown => (v === undefined ? { [TAG]: type } : { [TAG]: type, v });

  const encodeTree = (value: unknown, path: Path, ancestors: Set<object>): unknown => {
    switch (typeof value) {
      case "string":
      case "boolean":
        return value;
      case "number":
        return Number.isFinite(value) && !Object.is(value, -0)
          ? value
          : tagged("number", Object.is(value, -0) ? "-0" : String(value));
      case "undefined":
        return tagged("undefined");
      case "bigint":
        return tagged("bigint", value.toString());
      case "function":
      case "symbol":
        throw new NotSerialisableError(`a ${typeof value}`, path);
      case "object":
        return value === null ? null : encodeGuarded(value, path, ancestors);
      default:
        throw new NotSerialisableError(`a ${typeof value}`, path);
    }
  };

  const encodeGuarded = (value: object, path: Path, ancestors: Set<object>): unknown => {
    if (ancestors.has(value)) throw new NotSerialisableError("a cycle", path);
    ancestors.add(value);
    const result = encodeObject(value, path, ancestors);
    ancestors.delete(value);
    return result;
  };

  const encodeObject = (value: object, path: Path, ancestors: Set<object>): unknown => {
    const inner = (part: unknown, key: string | number): unknown => {
      path.push(key);
      const result = encodeTree(part, path, ancestors);
      path.pop();
      return result;
    };
    const list = (values: Iterable<unknown>): unknown[] => Array.from(values, (item, at) => inner(item, at));
    if (Array.isArray(value)) return list(value);
    if (isPlainObject(value) && !hasJsonForm(value)) {
      const entries = Object.entries(value).map(([key, member]) => [key, inner(member, key)] as const);
      return Object.hasOwn(value, TAG) ? tagged("object", entries) : fromEntries(entries); // value-codec.1
    }
    if (messages.isMessage(value)) return tagged("message", encodeFields(messages.fieldsOf(value), inner));
    if (value instanceof Date) return tagged("date", inner(value.getTime(), "time"));
    if (value instanceof Map)
      return tagged(
        "map",
        Array.from(value, ([k, v], at) => [inner(k, at), inner(v, at)]),
      );
    if (value instanceof Set) return tagged("set", list(value));
    if (ArrayBuffer.isView(value)) return tagged("bytes", [value.constructor.name, base64(value)]);
    if (value instanceof ArrayBuffer) return tagged("bytes", ["ArrayBuffer", base64(new Uint8Array(value))]);
    if (value instanceof URL) return tagged("url", value.href);
    if (value instanceof RegExp) return tagged("regexp", [value.source, value.flags]);
    if (value instanceof Error) return tagged("error", [value.name, value.message]);
    if (value instanceof Send) return tagged("send", [value.node, inner(value.args, "args")]);
    if (value instanceof Overwrite) return tagged("overwrite", [inner(value.value, "value")]);
    if (value instanceof Command) {
      const { update, resume, goto, graph } = value;
      return tagged("command", inner({ update, resume, goto, graph }, "command"));
    }
    if (value instanceof library.Document) {
      return tagged(
        "document",
        inner({ pageContent: value.pageContent, metadata: value.metadata, id: value.id }, "document"),
      );
    }
    if (hasJsonForm(value)) return encodeTree(value.toJSON(), path, ancestors);
    if ((value as { lg_name?: unknown }).lg_name === "DeltaSnapshot")
      return tagged("delta", inner({ ...value }, "delta"));
    return fromEntries(Object.entries(value).map(([key, member]) => [key, inner(member, key)] as const));
  };

  const decodeTree = (json: unknown): unknown => {
    if (typeof json !== "object" || json === null) return json;
    if (Array.isArray(json)) return json.map(decodeTree);
    if (!Object.hasOwn(json, TAG)) {
      return fromEntries(Object.entries(json).map(([key, member]) => [key, decodeTree(member)] as const));
    }
    const { [TAG]: type, v } = json as { readonly [TAG]: string; readonly v: never };
    return decodeTag(type, v);
  };

  const decodeTag = (type: string, v: never): unknown => {
    switch (type) {
      case "undefined":
        return undefined;
      case "number":
        return Number(v);
      case "bigint":
        return BigInt(v);
      case "object":
        return fromEntries((v as [string, unknown][]).map(([key, member]) => [key, decodeTree(member)] as const));
      case "message":
        return messages.create(decodeTree(v) as Record<string, unknown>);
      case "date":
        return new Date(decodeTree(v) as number);
      case "map":
        return new Map((v as [unknown, unknown][]).map(([key, member]) => [decodeTree(key), decodeTree(member)]));
      case "set":
        return new Set((v as unknown[]).map(decodeTree));
      case "bytes":
        return decodeBytes(v);
      case "url":
        return new URL(v);
      case "regexp":
        return new RegExp(v[0], v[1]);
      case "error":
        return Object.assign(new Error(v[1]), { name: v[0] });
      case "send":
        return new Send(v[0], decodeTree(v[1]));
      case "overwrite":
        return new Overwrite(decodeTree(v[0]));
      case "command":
        return new Command(decodeTree(v) as ConstructorParameters<typeof Command>[0]);
      case "document":
        return new library.Document(decodeTree(v) as ConstructorParameters<Library["Document"]>[0]);
      case "delta":
        return decodeTree(v);
      default:
        throw new Error(`this version does not know the stored type ${type}`); // value-codec.2
    }
  };

  const wireTree = (value: unknown, ancestors: Set<object>): Json | undefined => {
    if (typeof value === "number") return Number.isFinite(value) ? value : null;
    if (typeof value === "bigint") return value.toString();
    if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
    if (typeof value !== "object") return undefined;
    if (ancestors.has(value)) return null;
    ancestors.add(value);
    const list = (items: Iterable<unknown>): Json[] => Array.from(items, (item) => wireTree(item, ancestors) ?? null);
    const result = ((): Json | undefined => {
      if (Array.isArray(value)) return list(value);
      if (messages.isMessage(value)) return members(messages.wireOf(value));
      if (value instanceof Map) return list(value);
      if (value instanceof Set) return list(value);
      if (ArrayBuffer.isView(value)) return base64(value);
      if (value instanceof Error) return { name: value.name, message: value.message };
      if (value instanceof RegExp) return String(value);
      return hasJsonForm(value) ? wireTree(value.toJSON(), ancestors) : members(value);
    })();
    ancestors.delete(value);
    return result;

    function members(object: object): Json {
      const entries: (readonly [string, Json])[] = [];
      for (const [key, member] of Object.entries(object)) {
        const shown = wireTree(member, ancestors);
        if (shown !== undefined) entries.push([key, shown]);
      }
      return fromEntries(entries);
    }
  };

  const parse = (encoded: Encoded): Stored =>
    Object.assign(lazyJson(encoded), { tagged: encoded.includes(`"${TAG}"`) });
  const wireOf = (value: unknown): Json | undefined =>
    isPlain(value, PLAIN_LEVELS_MAX) ? (value as Json) : wireTree(value, new Set());
  const toWire = (value: unknown): Json => wireOf(value) ?? null;
  const encode = (value: unknown, at: ValuePath = []): Encoded =>
    isPlain(value, PLAIN_LEVELS_MAX) ? JSON.stringify(value) : JSON.stringify(encodeTree(value, [...at], new Set()));
  const encoder: JsonWriter = {
    text: encode,
    items(items, from, path) {
      try {
        return encode(items, path);
      } catch (error) {
        items.forEach((item, at) => encode(item, [...path, from + at])); // fails with the item's own index
        throw error;
      }
    },
    splits: (object) => isPlainObject(object) && !hasJsonForm(object) && !Object.hasOwn(object, TAG),
    cycle(path) {
      throw new NotSerialisableError("a cycle", path);
    },
  };
  const wireWriter: JsonWriter = {
    text: (value) => JSON.stringify(wireOf(value)),
    items: (items) => JSON.stringify(toWire(items)),
    splits: (object) => isPlainObject(object) && !hasJsonForm(object),
    cycle: () => "null",
  };
  return {
    parse,
    toWire,
    encode,
    encodeSlowly: async (value, at = []) => (await writeSlowly(value, encoder, at)) ?? "null",
    wireTextSlowly: async (value) => (await writeSlowly(value, wireWriter)) ?? "null",
    decode: (stored) => (stored.tagged ? decodeTree(stored.json) : stored.json),
    wireText: (value) => JSON.stringify(toWire(value)),
  };
}

/** True if JSON.stringify alone is exact: most state is, and the check costs far less than a copy. */
function isPlain(value: unknown, levels: number): boolean {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return true;
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== "object" || levels === 0) return false;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) if (!isPlain(value[at], levels - 1)) return false;
    return true;
  }
  if (!isPlainObject(value)) return false;
  for (const key in value) {
    if (key === TAG || !isPlain((value as Record<string, unknown>)[key], levels - 1)) return false;
  }
  return true;
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function hasJsonForm(value: object): value is { toJSON(): unknown } {
  return "toJSON" in value && typeof value.toJSON === "function";
}

function encodeFields(
  fields: Readonly<Record<string, unknown>>,
  inner: (part: unknown, key: string) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([key, member]) => [key, inner(member, key)]));
}

/** As Object.fromEntries, where `__proto__` is an ordinary member. */
function fromEntries<T>(entries: readonly (readonly [string, T])[]): Record<string, T> {
  return Object.fromEntries(entries);
}

function base64(view: ArrayBufferView): string {
  return Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString("base64");
}

const VIEWS: Readonly<Record<string, new (buffer: ArrayBuffer) => ArrayBufferView>> = {
  __proto__: null as never,
  Int8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  ...("Float16Array" in globalThis ? { Float16Array } : {}), // Node 22 has none: it returns the bytes
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
  DataView,
};

function decodeBytes([name, text]: readonly [string, string]): unknown {
  const bytes = Buffer.from(text, "base64");
  if (name === "Buffer") return bytes;
  const buffer = Uint8Array.from(bytes).buffer;
  if (name === "ArrayBuffer") return buffer;
  const View = VIEWS[name];
  return View === undefined ? new Uint8Array(buffer) : new View(buffer);
}
