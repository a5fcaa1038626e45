// The `goto` of a command, from JSON to the objects of the library.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Library } from "./library.ts";

export function toGoto(library: Library, goto: unknown): never {
  const one = (target: unknown): unknown =>
    typeof target === "object" && target !== null && "node" in target
      ? new library.langgraph.Send(
          readNodeName(target.node),
          "input" in target ? target.input : (target as JsonObject)["args"],
        )
      : target;
  return (Array.isArray(goto) ? goto.map(one) : one(goto)) as never;
}

export function readNodeName(node: unknown): string {
  if (typeof node === "string") return node;
  throw new TypeError("the node of a goto must be a text");
}
