// Twin calls: a model call that two instrumentations see, as a run and a run below it with the same tokens. Both would
// count in the sums of the trace (trace-tree.8).
import type { JsonObject } from "../../base/json/json.ts";
import type { RunContent } from "../shared/trace-run.ts";
import { isObject, jsonOf } from "../translate/attributes/plain-values.ts";
import type { Node } from "./tree-node.ts";

/** In the metadata of the inner run, instead of `usage_metadata`. */
const COUNTED_ABOVE = "usage_counted_above";

/**
 * Marks a placed run as the twin of the nearest model call above it, when that one has the same tokens and no twin yet:
 * a second call with the same tokens is another call. What a tool calls is another call too.
 */
export function noteTwin(node: Node, { counts }: RunContent): void {
  node.counts = counts;
  if (counts === "" || counts === "tool") return;
  let above = node.parent;
  while (above !== null && above.counts === "") above = above.parent; // at most DEPTH_MAX
  if (above === null || above.counts !== counts || above.hasTwin) return;
  above.hasTwin = true;
  node.isTwin = true;
}

/** The content of an inner run: its usage moves to a name that no sum reads. */
export function withoutUsage(content: RunContent): RunContent {
  const extra = jsonOf(content.extra);
  const metadata = isObject(extra) ? extra["metadata"] : undefined;
  if (!isObject(extra) || !isObject(metadata)) return content;
  const { usage_metadata: usage, ...rest } = metadata;
  if (usage === undefined) return content;
  const moved = { ...extra, metadata: { ...rest, [COUNTED_ABOVE]: usage } };
  return { ...content, extra: JSON.stringify(moved), outputs: withoutMember(content.outputs) };
}

function withoutMember(outputs: string): string {
  const value = outputs === "" ? null : jsonOf(outputs);
  if (!isObject(value) || value["usage_metadata"] === undefined) return outputs;
  const { usage_metadata: _usage, ...rest }: JsonObject = value;
  return JSON.stringify(rest);
}
