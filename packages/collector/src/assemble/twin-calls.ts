// Twin calls: a model call that two instrumentations see, as a run and a run below it with the same tokens. Both would
// count in the sums of the trace (trace-tree.8).
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { RunContent } from "../shared/trace-run.ts";
import { isObject, toJson } from "../translate/attributes/plain-values.ts";
import type { Node } from "./tree-node.ts";

/** In the metadata of the inner run, instead of `usage_metadata`. */
const COUNTED_ABOVE = "usage_counted_above";

/**
 * Marks a placed run as the twin of the nearest model call above it, when that one has the same tokens and no twin yet:
 * a second call with the same tokens is another call. What a tool calls is another call too.
 */
export function noteTwin(node: Node, content: RunContent): void {
  const counts = describeCounts(content);
  node.counts = counts;
  if (counts === "" || counts === "tool") return;
  let above = node.parent;
  while (above !== null && above.counts === "") above = above.parent; // at most DEPTH_MAX
  if (above === null || above.counts !== counts || above.hasTwin) return;
  above.hasTwin = true;
  node.isTwin = true;
}

/** The tokens of a model call, equal for equal counts. "tool" for a tool; "" for no call, or one without counts. */
function describeCounts({ call, runType }: RunContent): string {
  if (runType === "tool") return runType;
  if (runType !== "llm" || call.usage === null) return "";
  const { input_tokens: input, output_tokens: output } = call.usage;
  return typeof input === "number" && typeof output === "number" && output > 0 ? `${input} ${output}` : "";
}

/** The content that a sum over the trace counts: of an inner run, the usage has a name that no sum reads. */
export function countedOnce(node: Node, content: RunContent): RunContent {
  return node.isTwin && describeCounts(content) === node.counts ? withoutUsage(content) : content;
}

function withoutUsage(content: RunContent): RunContent {
  const extra = toJson(content.extra);
  const metadata = isObject(extra) ? extra["metadata"] : undefined;
  if (!isObject(extra) || !isObject(metadata)) return content;
  const { usage_metadata: usage, ...rest } = metadata;
  if (usage === undefined) return content;
  const moved = { ...extra, metadata: { ...rest, [COUNTED_ABOVE]: usage } };
  const call = { ...content.call, usage: null };
  return { ...content, call, extra: JSON.stringify(moved), outputs: withoutMember(content.outputs) };
}

function withoutMember(outputs: string): string {
  const value = outputs === "" ? null : toJson(outputs);
  if (!isObject(value) || value["usage_metadata"] === undefined) return outputs;
  const { usage_metadata: _usage, ...rest }: JsonObject = value;
  return JSON.stringify(rest);
}
