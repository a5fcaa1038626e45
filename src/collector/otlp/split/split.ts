// Split: one request → one smaller request for each worker that owns a trace of it, without reading attributes.
// Invariants:
//   split.1. The shares of a request hold each of its items once, and all its resources and scopes that have an item.
//   split.2. Items of one trace are in one share. Items without a trace id go with the first item of the request that
//        has one; log records without one go to the worker of their tenant (session-span.1).
//   split.3. A share is a request in the encoding of the original: the same reader reads it, with the same limits.
import type { WireFormat } from "../status.ts";
import type { Share, SplitRules } from "./rules.ts";
import { splitJson } from "./split-json.ts";
import { splitProtobuf } from "./split-protobuf.ts";

/** Yields between slices of a large body. @throws {DecodeError} */
export function split(body: Buffer, format: WireFormat, rules: SplitRules): Generator<undefined, Share[]> {
  return format === "json" ? splitJson(body, rules) : splitProtobuf(body, rules);
}
