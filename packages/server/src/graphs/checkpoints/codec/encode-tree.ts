// Encode tree: a live value → JSON, with a tag on each value that JSON alone would lose (value-codec.1, value-codec.3).
import { TAG } from "../../../model/model.ts";
import type { Library } from "../../langgraph/library.ts";
import type { MessageCodec } from "./message-codec.ts";
import { base64, fromEntries, hasJsonForm, isPlainObject } from "./plain-values.ts";

export class NotSerialisableError extends Error {
  constructor(what: string, path: readonly (string | number)[]) {
    super(`${what} at ${path.length === 0 ? "the top" : path.join(".")} cannot be stored`);
    this.name = "state_not_serialisable";
  }
}

/** The classes that have a tag of their own. */
export interface CodecClasses {
  readonly messages: MessageCodec;
  readonly Document: Library["Document"];
  readonly Send: Library["langgraph"]["Send"];
  readonly Command: Library["langgraph"]["Command"];
  readonly Overwrite: Library["langgraph"]["Overwrite"];
}

/** One walk over one value. */
export interface EncodeWalk {
  readonly classes: CodecClasses;
  /** Path of the value that is being encoded. */
  readonly path: (string | number)[];
  readonly ancestors: Set<object>;
}

/** @throws {NotSerialisableError} value-codec.3 */
export function encodeTree(walk: EncodeWalk, value: unknown): unknown {
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
    case "object":
      return value === null ? null : encodeGuarded(walk, value);
    case "function":
    case "symbol":
    default:
      throw new NotSerialisableError(`a ${typeof value}`, walk.path);
  }
}

function encodeGuarded(walk: EncodeWalk, value: object): unknown {
  if (walk.ancestors.has(value)) throw new NotSerialisableError("a cycle", walk.path);
  walk.ancestors.add(value);
  const result = encodeObject(walk, value);
  walk.ancestors.delete(value);
  return result;
}

function encodeObject(walk: EncodeWalk, value: object): unknown {
  if (Array.isArray(value)) return encodeList(walk, value);
  if (isPlainObject(value) && !hasJsonForm(value)) {
    const entries = encodeMembers(walk, value);
    return Object.hasOwn(value, TAG) ? tagged("object", entries) : fromEntries(entries); // value-codec.1
  }
  const { messages } = walk.classes;
  if (messages.isMessage(value)) return tagged("message", fromEntries(encodeMembers(walk, messages.listFields(value))));
  return encodeBuiltIn(walk, value) ?? encodeLibraryValue(walk, value) ?? encodeOther(walk, value);
}

/** A class of the language. */
function encodeBuiltIn(walk: EncodeWalk, value: object): unknown {
  if (value instanceof Date) return tagged("date", encodeMember(walk, "time", value.getTime()));
  if (value instanceof Map) {
    const pairs = Array.from(value, ([k, v], at) => [encodeMember(walk, at, k), encodeMember(walk, at, v)]);
    return tagged("map", pairs);
  }
  if (value instanceof Set) return tagged("set", encodeList(walk, value));
  if (ArrayBuffer.isView(value)) return tagged("bytes", [value.constructor.name, base64(value)]);
  if (value instanceof ArrayBuffer) return tagged("bytes", ["ArrayBuffer", base64(new Uint8Array(value))]);
  if (value instanceof URL) return tagged("url", value.href);
  if (value instanceof RegExp) return tagged("regexp", [value.source, value.flags]);
  if (value instanceof Error) return tagged("error", encodeList(walk, errorParts(value)));
  return undefined;
}

/** A class of LangGraph or LangChain. */
function encodeLibraryValue(walk: EncodeWalk, value: object): unknown {
  const { Send, Overwrite, Command, Document } = walk.classes;
  if (value instanceof Send) return tagged("send", [value.node, encodeMember(walk, "args", value.args)]);
  if (value instanceof Overwrite) return tagged("overwrite", [encodeMember(walk, "value", value.value)]);
  if (value instanceof Command) {
    const { update, resume, goto, graph } = value;
    return tagged("command", encodeMember(walk, "command", { update, resume, goto, graph }));
  }
  if (value instanceof Document) {
    const { pageContent, metadata, id } = value;
    return tagged("document", encodeMember(walk, "document", { pageContent, metadata, id }));
  }
  return undefined;
}

function errorParts({ name, message, code }: Error & { readonly code?: unknown }): readonly unknown[] {
  return typeof code === "string" || typeof code === "number" ? [name, message, code] : [name, message];
}

function encodeOther(walk: EncodeWalk, value: object): unknown {
  refuseLoss(walk, value);
  if (hasJsonForm(value)) return encodeTree(walk, value.toJSON());
  const isDelta = (value as { readonly lg_name?: unknown }).lg_name === "DeltaSnapshot";
  return isDelta ? tagged("delta", encodeMember(walk, "delta", { ...value })) : fromEntries(encodeMembers(walk, value));
}

/**
 * Objects of the platform keep their content where no JSON form finds it: it would be stored as `{}`.
 * @throws {NotSerialisableError}
 */
function refuseLoss(walk: EncodeWalk, value: object): void {
  if (typeof Reflect.get(value, "then") === "function") {
    throw new NotSerialisableError("a promise (is an await missing?)", walk.path);
  }
  if (hasJsonForm(value) || Object.keys(value).length > 0) return;
  const kind: unknown = Reflect.get(value, Symbol.toStringTag);
  if (typeof kind === "string") throw new NotSerialisableError(`an object of the class ${kind}`, walk.path);
}

function encodeMember(walk: EncodeWalk, key: string | number, member: unknown): unknown {
  walk.path.push(key);
  const result = encodeTree(walk, member);
  walk.path.pop();
  return result;
}

function encodeMembers(walk: EncodeWalk, value: object): (readonly [string, unknown])[] {
  return Object.entries(value).map(([key, member]) => [key, encodeMember(walk, key, member)] as const);
}

function encodeList(walk: EncodeWalk, values: Iterable<unknown>): unknown[] {
  return Array.from(values, (item, at) => encodeMember(walk, at, item));
}

function tagged(type: string, v?: unknown): unknown {
  return v === undefined ? { [TAG]: type } : { [TAG]: type, v };
}
