// Normalize span: a span of any sender → the same span in the newest attributes of OpenTelemetry's GenAI conventions: the
// facts of its run are written back, and the attributes and events that they came from go.
// Invariants:
//   - Translated again, the span gives the same run. A group of facts that the conventions cannot hold keeps the
//     sender's attributes; a span for which nothing else helps stays as it came.
//   - What no rule reads stays, and so do names, times, status and links.
//   - A span that is not about generative AI stays as it came.
import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Attributes, AttributeValue, Span } from "../otlp/span.ts";
import type { RequestContext } from "../shared/trace-run.ts";
import type { ExplainedAttribute } from "../translate/fields/destinations.ts";
import { createExplainer } from "../translate/translate.ts";
import { withPlainTexts } from "./gen-ai-messages.ts";
import { type Given, type Group, GROUPS, type ParsedRun, parseRun, writeGroup } from "./gen-ai-attributes.ts";

export type NormalizeSpan = (span: Span) => Span;

const CONTEXT: RequestContext = { tenant: { id: "", apiKey: "", tenantId: "" }, project: "", receivedMs: 0 };
const TRIES_MAX = 4;

export function createNormalizer(): NormalizeSpan {
  const explain = createExplainer({ filterNonGenAi: true, project: "", inlineMedia: true });
  const read = (span: Span): Read | null => {
    const { attributes, run } = explain(span, CONTEXT);
    return run.content === null ? null : { run: parseRun(run.content), attributes };
  };
  return (span) => {
    const before = read(span);
    if (before === null) return span;
    let groups: readonly Group[] = GROUPS;
    for (let tries = 0; tries < TRIES_MAX && groups.length > 0; tries++) {
      const made = rewrite(span, before, groups);
      const after = read(made);
      const wrong = after === null ? GROUPS : changedGroups(before.run, after.run);
      if (wrong.length === 0) return made;
      groups = groups.filter((group) => !wrong.includes(group));
    }
    return span;
  };
}

interface Read {
  readonly run: ParsedRun;
  readonly attributes: readonly ExplainedAttribute[];
}

const GROUP_OF_FIELD: ReadonlyMap<string, Group> = new Map([
  ["inputs", "inputs"],
  ["outputs", "outputs"],
  ["usage_metadata", "usage"],
  ["extra.metadata.ls_provider", "model"],
  ["extra.metadata.ls_model_name", "model"],
  ["extra.invocation_params", "params"],
  ["run_type", "type"],
]);

function rewrite(span: Span, { attributes, run }: Read, groups: readonly Group[]): Span {
  const fields = new Map(attributes.map((one) => [one.attribute, one.fields]));
  const written = groups.map((group) => [group, writeGroup(group, run, readGiven(span, fields))] as const);
  const whole = new Set(written.filter(([, { isWhole }]) => isWhole).map(([group]) => group));
  const hasContent = whole.has("inputs") && whole.has("outputs");
  const added = new Map(written.flatMap(([, one]) => Object.entries(one.attributes)));
  const goes = (key: string): boolean => {
    const own = fields.get(key) ?? [];
    if (added.has(key)) return true;
    if (own.length === 0) return false;
    if (own[0]?.startsWith("left out: another") === true) return hasContent;
    return own.every((field) => whole.has(GROUP_OF_FIELD.get(field) ?? "rest"));
  };
  const kept = span.attributes.keys.flatMap((key, at): (readonly [string, AttributeValue])[] =>
    goes(key) ? [] : [[key, span.attributes.values[at] ?? null]],
  );
  return {
    ...span,
    attributes: toAttributes([...kept, ...added]),
    events: hasContent ? withoutContent(span.events, run) : span.events,
  };
}

function toAttributes(entries: readonly (readonly [string, AttributeValue])[]): Attributes {
  return { keys: entries.map(([key]) => key), values: entries.map(([, value]) => value) };
}

function readGiven(span: Span, fields: ReadonlyMap<string, readonly string[]>): Given {
  const { keys, values } = span.attributes;
  const operation = values[keys.lastIndexOf("gen_ai.operation.name")];
  const kinds = keys.flatMap((key, at) => {
    const value = values[at];
    return typeof value === "string" && fields.get(key)?.includes("run_type") === true ? [value] : [];
  });
  return { operation: typeof operation === "string" ? operation : "", kinds };
}

/** Events whose content is in the inputs or outputs are not among the events of the run. */
function withoutContent(events: Span["events"], { content }: ParsedRun): Span["events"] {
  if (events.length === 0) return events;
  const list = content.events === "" ? [] : (JSON.parse(content.events) as readonly { readonly name?: unknown }[]);
  const names = new Set(list.map(({ name }) => name));
  return events.filter(({ name }) => names.has(name) || name === "exception");
}

/** The groups whose facts differ in the two runs; all of them when something else does. */
function changedGroups(before: ParsedRun, after: ParsedRun): readonly Group[] {
  const { content: one } = before;
  const { content: other } = after;
  const wrong: Group[] = [];
  if (!isDeepStrictEqual(withPlainTexts(before.inputs), withPlainTexts(after.inputs))) wrong.push("inputs");
  if (!isDeepStrictEqual(withPlainTexts(before.outputs), withPlainTexts(after.outputs))) wrong.push("outputs");
  if (!isSame(before.metadata, after.metadata, USAGE)) wrong.push("usage");
  if (!isSame(before.metadata, after.metadata, MODEL)) wrong.push("model");
  if (!isDeepStrictEqual(withModel(before), withModel(after))) wrong.push("params");
  if (one.runType !== other.runType) wrong.push("type");
  if (one.events !== other.events) wrong.push("inputs", "outputs");
  if (one.name !== other.name || !isSame(before.metadata, after.metadata, others(before.metadata))) wrong.push("rest");
  const isPlain =
    one.error === other.error && isDeepStrictEqual(one.tags, other.tags) && one.sessionName === other.sessionName;
  return isPlain ? wrong : GROUPS;
}

/** The parameters have a model wherever attributes name one, which a body may have done before. */
function withModel({ content, metadata, params }: ParsedRun): JsonObject {
  const { ls_model_name: model } = metadata;
  return model === undefined ? params : { model: content.call.requestModel || model, ...params };
}

const USAGE = ["usage_metadata", "aggregate_usage"];
const MODEL = ["ls_provider", "ls_model_name", "ls_model_type"];
/** The sender's own words, and what no rule read. */
const OWN_WORDS: ReadonlySet<string> = new Set([...USAGE, ...MODEL, "otel_provider", "otel", "operation"]);

function others(metadata: JsonObject): readonly string[] {
  return Object.keys(metadata).filter((name) => !OWN_WORDS.has(name));
}

function isSame(one: JsonObject, other: JsonObject, names: readonly string[]): boolean {
  return names.every((name) => isDeepStrictEqual(one[name], other[name]));
}
