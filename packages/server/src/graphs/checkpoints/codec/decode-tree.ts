// Decode tree: stored JSON → the live value. The tags are a closed list (value-codec.2).
import { TAG } from "../../../model/model.ts";
import type { CodecClasses } from "./encode-tree.ts";
import { fromEntries } from "./plain-values.ts";

export function decodeTree(classes: CodecClasses, json: unknown): unknown {
  if (typeof json !== "object" || json === null) return json;
  if (Array.isArray(json)) return decodeList(classes, json);
  if (!Object.hasOwn(json, TAG)) return decodeMembers(classes, Object.entries(json));
  const { [TAG]: type, v } = json as { readonly [TAG]: string; readonly v: never };
  return decodeTag(classes, type, v);
}

function decodeTag(classes: CodecClasses, type: string, v: never): unknown {
  switch (type) {
    case "undefined":
      return undefined;
    case "number":
      return Number(v);
    case "bigint":
      return BigInt(v);
    case "object":
      return decodeMembers(classes, v);
    case "message":
      return classes.messages.create(decodeTree(classes, v) as Record<string, unknown>);
    case "date":
      return new Date(decodeTree(classes, v) as number);
    case "map":
      return new Map(decodeList(classes, v) as [unknown, unknown][]);
    case "set":
      return new Set(decodeList(classes, v));
    case "bytes":
      return decodeBytes(v);
    case "url":
      return new URL(v);
    case "regexp":
      return new RegExp(v[0], v[1]);
    case "error":
      return decodeError(v);
    case "send":
      return new classes.Send(v[0], decodeTree(classes, v[1]));
    case "overwrite":
      return new classes.Overwrite(decodeTree(classes, v[0]));
    case "command":
      return new classes.Command(decodeTree(classes, v) as ConstructorParameters<CodecClasses["Command"]>[0]);
    case "document":
      return new classes.Document(decodeTree(classes, v) as ConstructorParameters<CodecClasses["Document"]>[0]);
    case "delta":
      return decodeTree(classes, v);
    default:
      throw new Error(`unknown stored type ${type}`); // value-codec.2
  }
}

function decodeList(classes: CodecClasses, items: readonly unknown[]): unknown[] {
  return items.map((item) => decodeTree(classes, item));
}

function decodeMembers(classes: CodecClasses, members: readonly (readonly [string, unknown])[]): unknown {
  return fromEntries(members.map(([key, member]) => [key, decodeTree(classes, member)] as const));
}

function decodeError([name, message, code]: readonly [string, string, (string | number)?]): Error {
  return Object.assign(new Error(message), { name }, code === undefined ? {} : { code });
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
