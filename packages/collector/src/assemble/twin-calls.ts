// Twin calls: a model call that two instrumentations see, as a run and a run below it with the same tokens. Both would
// count in the sums of the trace.
// Invariant: the run whose tokens are known first keeps them: usually the outer one, because it is placed first; the
// inner one when the tokens of the outer one come later, in a log record or with a span that was missing.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { RunContent } from "../shared/trace-run.ts";
import { isObject, toJson } from "../translate/attributes/plain-values.ts";
import type { Node } from "./tree-node.ts";

/** At the end of the counts of a call whose sender knows its cost. */
const COSTED = " $";
/** Counts of a model call without tokens. */
const SILENT = "?";
const CALLS_BELOW_MAX = 16;

/**
 * Marks a placed run as the twin of the nearest model call above it, when that one has the same tokens and no twin yet:
 * a second call with the same tokens is another call. What a tool calls is another call too. A run that was placed
 * without its tokens can be the twin of a call below it.
 */
export function noteTwin(node: Node, content: RunContent): void {
  if (!isUncounted(node.counts)) return;
  const counts = describeCounts(content);
  noteCounts(node, hasCost(content) && !isUncounted(counts) ? counts + COSTED : counts);
}

/** @param told with the mark of a cost, as the tree log keeps them of an earlier process */
export function noteCounts(node: Node, told: string): void {
  if (!isUncounted(node.counts)) return;
  node.counts = told;
  const counts = withoutMark(told);
  if (isUncounted(counts) || counts === TOOL) return;
  const above = findCallAbove(node);
  if (above !== null && withoutMark(above.counts) === counts && !above.hasTwin) {
    above.hasTwin = true;
    node.twin = { place: "above", hasCost: above.counts.endsWith(COSTED) };
  }
  const below = node.callsBelow?.find((one) => withoutMark(one) === counts);
  node.callsBelow = null;
  if (below === undefined) return;
  node.hasTwin = true;
  node.twin ??= { place: "below", hasCost: below.endsWith(COSTED) };
}

function isUncounted(counts: string): boolean {
  return counts === "" || counts === SILENT;
}

function withoutMark(counts: string): string {
  return counts.endsWith(COSTED) ? counts.slice(0, -COSTED.length) : counts;
}

/** On the way, tells calls without tokens, and spans that have not come, of this call. */
function findCallAbove(node: Node): Node | null {
  let above = node.parent;
  for (; above !== null && isUncounted(above.counts); above = above.parent) {
    // at most DEPTH_MAX
    if (above.counts !== SILENT && above.state !== "promised") continue;
    above.callsBelow ??= [];
    if (above.callsBelow.length < CALLS_BELOW_MAX) above.callsBelow.push(node.counts);
  }
  return above;
}

const COSTS = ["input_cost", "output_cost", "total_cost"];

function hasCost({ call }: RunContent): boolean {
  return COSTS.some((name) => call.usage?.[name] !== undefined);
}

const TOOL = "tool";

/** The tokens of a model call, equal for equal counts. TOOL for a tool; "" for everything else. */
function describeCounts({ call, runType }: RunContent): string {
  if (runType === TOOL) return TOOL;
  if (runType !== "llm" && runType !== "embedding") return "";
  const { input_tokens: input, output_tokens: output } = call.usage ?? {};
  if (runType === "embedding") return typeof input === "number" && input > 0 ? `${input}` : SILENT;
  return typeof input === "number" && typeof output === "number" && output > 0 ? `${input} ${output}` : SILENT;
}

/**
 * The content that a sum over the trace counts: of one of two twins, the usage has a name that no sum reads. Its cost
 * stays when the other one has none.
 */
export function countedOnce(node: Node, content: RunContent): RunContent {
  const { twin } = node;
  if (twin === null || describeCounts(content) !== withoutMark(node.counts)) return withCostBelow(node, content);
  return withoutUsage(content, `usage_counted_${twin.place}`, hasCost(content) && !twin.hasCost ? COSTS : []);
}

/**
 * The metrics count a call at its outer run, with the cost that the sender of the inner one knows. The inner span ends
 * first, so it waits for the outer one.
 */
function withCostBelow(node: Node, content: RunContent): RunContent {
  const counts = describeCounts(content);
  if (node.children === null || isUncounted(counts) || counts === TOOL || hasCost(content)) return content;
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
    if (isUncounted(own)) stack.push(...(next.children ?? []));
    else if (content !== null && own === counts && hasCost(content)) return readCosts(content.call.usage ?? {});
  }
  return null;
}

function readCosts(usage: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(usage).filter(([name]) => COSTS.includes(name)));
}

/** @param name in the metadata, instead of `usage_metadata` */
function withoutUsage(content: RunContent, name: string, kept: readonly string[]): RunContent {
  const extra = toJson(content.extra);
  const metadata = isObject(extra) ? extra["metadata"] : undefined;
  if (!isObject(extra) || !isObject(metadata)) return content;
  const { usage_metadata: usage, ...rest } = metadata;
  if (!isObject(usage)) return content;
  const costs = keepCosts(usage, kept);
  const moved = { ...extra, metadata: { ...rest, ...costs, [name]: usage } };
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
