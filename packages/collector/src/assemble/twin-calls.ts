// Twin calls: a model call that two instrumentations see, as a run and a run below it with the same tokens. Both would
// count in the sums of the trace.
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
  node.counts = counts === "" ? "" : counts + (hasCost(content) ? COSTED : "");
  if (counts === "" || counts === "tool") return;
  const above = findCallAbove(node);
  if (above === null || withoutMark(above.counts) !== counts || above.hasTwin) return;
  above.hasTwin = true;
  node.isTwin = true;
}

/** At the end of the counts of a call whose sender knows its cost. */
const COSTED = " $";

function withoutMark(counts: string): string {
  return counts.endsWith(COSTED) ? counts.slice(0, -COSTED.length) : counts;
}

function findCallAbove(node: Node): Node | null {
  let above = node.parent;
  while (above !== null && above.counts === "") above = above.parent; // at most DEPTH_MAX
  return above;
}

const COSTS = ["input_cost", "output_cost", "total_cost"];

function hasCost({ call }: RunContent): boolean {
  return COSTS.some((name) => call.usage?.[name] !== undefined);
}

/** The tokens of a model call, equal for equal counts. "tool" for a tool; "" for no call, or one without counts. */
function describeCounts({ call, runType }: RunContent): string {
  if (runType === "tool") return runType;
  if (runType !== "llm" || call.usage === null) return "";
  const { input_tokens: input, output_tokens: output } = call.usage;
  return typeof input === "number" && typeof output === "number" && output > 0 ? `${input} ${output}` : "";
}

/**
 * The content that a sum over the trace counts: of an inner run, the usage has a name that no sum reads. Its cost stays
 * when the outer one has none.
 */
export function countedOnce(node: Node, content: RunContent): RunContent {
  if (!node.isTwin || describeCounts(content) !== withoutMark(node.counts)) return withCostBelow(node, content);
  const isKept = hasCost(content) && findCallAbove(node)?.counts.endsWith(COSTED) === false;
  return withoutUsage(content, isKept ? COSTS : []);
}

/**
 * The metrics count a call at its outer run, with the cost that the sender of the inner one knows. The inner span ends
 * first, so it waits for the outer one.
 */
function withCostBelow(node: Node, content: RunContent): RunContent {
  const counts = describeCounts(content);
  if (node.children === null || counts === "" || counts === "tool" || hasCost(content)) return content;
  const costs = findCostsBelow(node, counts);
  return costs === null
    ? content
    : { ...content, call: { ...content.call, usage: { ...content.call.usage, ...costs } } };
}

/** Behind other calls are no twins. */
function findCostsBelow(node: Node, counts: string): JsonObject | null {
  const stack = [...(node.children ?? [])];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const content = next.run?.content ?? null;
    const own = content === null ? "" : describeCounts(content);
    if (own === "") stack.push(...(next.children ?? []));
    else if (content !== null && own === counts && hasCost(content)) return readCosts(content.call.usage ?? {});
  }
  return null;
}

function readCosts(usage: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(usage).filter(([name]) => COSTS.includes(name)));
}

function withoutUsage(content: RunContent, kept: readonly string[]): RunContent {
  const extra = toJson(content.extra);
  const metadata = isObject(extra) ? extra["metadata"] : undefined;
  if (!isObject(extra) || !isObject(metadata)) return content;
  const { usage_metadata: usage, ...rest } = metadata;
  if (!isObject(usage)) return content;
  const costs = keepCosts(usage, kept);
  const moved = { ...extra, metadata: { ...rest, ...costs, [COUNTED_ABOVE]: usage } };
  const call = { ...content.call, usage: null };
  return { ...content, call, extra: JSON.stringify(moved), outputs: withoutMember(content.outputs, costs) };
}

function keepCosts(usage: JsonObject, kept: readonly string[]): JsonObject {
  const costs = kept.length === 0 ? {} : readCosts(usage);
  return Object.keys(costs).length === 0 ? {} : { usage_metadata: costs };
}

function withoutMember(outputs: string, costs: JsonObject): string {
  const value = outputs === "" ? null : toJson(outputs);
  if (!isObject(value) || value["usage_metadata"] === undefined) return outputs;
  const { usage_metadata: _usage, ...rest }: JsonObject = value;
  return JSON.stringify({ ...rest, ...costs });
}
