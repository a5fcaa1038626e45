// Translate: a span → the content of a run and its declared place (receive → decode → translate → assemble → …).
// The rules are tables in the neighbouring files; this one applies them in order and joins the results.
// Invariants: those of trace-run.ts, and
//   - Every span becomes a run or, with the filter on, a place without content. No span makes translation
//     throw.
//   - With content capture off a model call still is an llm run with model and usage.
//   - The metadata comes last: it takes every attribute that no other field used.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Span } from "../otlp/span.ts";
import { readAttachments } from "./fields/attachments.ts";
import type { Found, Subject } from "./messages/content.ts";
import { createFactsReader, type Facts, type FactsReader } from "./attributes/span-facts.ts";
import { findInputs } from "./fields/inputs.ts";
import { textMember } from "./attributes/indexed.ts";
import { ObjectWriter, extended } from "./attributes/json-writer.ts";
import { isGenAiName, isGenAiScope, sources } from "./attributes/known-keys.ts";
import { createMedia, type Media } from "./media/media.ts";
import { type ExplainedAttribute, listDestinations } from "./fields/destinations.ts";
import { formatMetadata, type MetadataParts } from "./fields/metadata.ts";
import { readInvocationParams } from "./fields/invocation-params.ts";
import { type Bodies, OPERATION, readModel } from "./fields/model.ts";
import { formatError } from "./fields/outcome.ts";
import { findOutputs } from "./fields/outputs.ts";
import { chooseRunName } from "./fields/run-name.ts";
import { usesVectors, chooseRunType } from "./fields/run-type.ts";
import { gatherMessages, type SpanEventContent } from "./messages/span-events.ts";
import { unusedEvents } from "./messages/unused-events.ts";
import type { DropDefinition } from "../sample/sample-schema.ts";
import { matches } from "../sample/span-match.ts";
import { rfc3339 } from "../shared/rfc3339.ts";
import { NO_ORIGINS } from "../shared/span-origin.ts";
import {
  type CallFacts,
  PLAIN_CONTENT,
  type RequestContext,
  type RunContent,
  type UnplacedRun,
} from "../shared/trace-run.ts";
import { readUsage } from "./fields/token-usage.ts";
import { readParent, readDeclaredIds } from "./place-in-trace.ts";
import { readLabels, type RunLabels } from "./run-labels.ts";
import { eventsText } from "./run-events.ts";
import { readSeconds, type Times, chooseTimes } from "./span-times.ts";

export interface TranslateOptions {
  /** FILTER_NON_GENAI: spans without a relation to generative AI keep their place, without an upload. */
  readonly filterNonGenAi: boolean;
  /** Rules for spans to drop: these keep their place, without an upload. */
  readonly drop?: DropDefinition;
  /** Base64 content stays in the messages. */
  readonly inlineMedia?: boolean;
  /** TRACING_PROJECT, "" for none. */
  readonly project: string;
  /** EXPLAIN_ATTRIBUTES: the metadata names the destination of every attribute. */
  readonly explain?: boolean;
}

export type Translate = (span: Span, context: RequestContext) => UnplacedRun;

const IS_ROOT = sources("langsmith.is_root", "langsmith.root_span");

/** Langfuse exports no span above it. */
const IS_APP_ROOT = sources("langfuse.internal.is_app_root");

const LOGFIRE_TYPE = sources("logfire.span_type");

export function createTranslator(options: TranslateOptions): Translate {
  const reader = createFactsReader();
  return (span, context) => translate(reader, options, span, context);
}

function translate(reader: FactsReader, options: TranslateOptions, span: Span, context: RequestContext): UnplacedRun {
  const eventContent = gatherMessages(span);
  const facts = reader.read(span, eventContent.detailAttributes);
  const times = chooseTimes(span, context);
  const wanted = !options.filterNonGenAi || isGenAi(facts, eventContent);
  const isDropped = options.drop?.some((rule) => matches(rule, span)) ?? false;
  const isPending = facts.peek(LOGFIRE_TYPE) === "pending_span"; // a copy of a span that has not ended
  facts.enter("place in the trace");
  const parentSpanId = readParent(facts);
  const parentIs = isTrue(facts.value(IS_APP_ROOT)) ? "remote" : readParentPlace(span);
  const isKept = wanted && !isDropped && !isPending;
  const isTop = parentSpanId === "" || parentSpanId === span.spanId;
  return {
    ...(isKept || !isTop ? {} : { shell: buildShell(facts, times, readLabels(facts, context, options.project)) }),
    tenant: context.tenant,
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId,
    start: times.start,
    isRoot: parentSpanId === "" || isTrue(facts.value(IS_ROOT)),
    declared: readDeclaredIds(facts),
    content: isKept ? translateContent({ facts, eventContent, times, context, options }) : null,
    isDropped,
    parentIs,
    origins: NO_ORIGINS,
  };
}

/** Bits of a span's flags: the sender knows whether the parent is remote, and it is. */
const IS_KNOWN = 0x100;
const IS_REMOTE = 0x200;

function readParentPlace({ flags }: Span): UnplacedRun["parentIs"] {
  if ((flags & IS_KNOWN) === 0) return undefined;
  return (flags & IS_REMOTE) === 0 ? "local" : "remote";
}

function buildShell(facts: Facts, times: Times, { sessionId, sessionName }: RunLabels): RunContent {
  const name = facts.span.name.toWellFormed();
  const [startTime, endTime] = [rfc3339(times.start), rfc3339(times.end)];
  return { ...PLAIN_CONTENT, name, startTime, endTime, sessionName, sessionId, size: name.length };
}

/** Like the translator, with the destination of every attribute. For people: slower, and one span at a time. */
export function createExplainer(
  options: TranslateOptions,
): (
  span: Span,
  context: RequestContext,
) => { readonly run: UnplacedRun; readonly attributes: readonly ExplainedAttribute[] } {
  const reader = createFactsReader();
  return (span, context) => {
    let facts: Facts | null = null;
    const run = translate({ read: (one, details) => (facts = reader.read(one, details)) }, options, span, context);
    return { run, attributes: facts === null ? [] : listDestinations(facts, readSaid(run)) };
  };
}

interface Work {
  readonly facts: Facts;
  readonly eventContent: SpanEventContent;
  readonly times: Times;
  readonly context: RequestContext;
  readonly options: TranslateOptions;
}

function translateContent(work: Work): RunContent {
  const { facts, eventContent, times } = work;
  facts.enter("run_type");
  const typed = chooseRunType(facts, eventContent);
  const subject: Subject = { facts, eventContent, type: typed.type };
  const usageIsSum = typed.declared && typed.type !== "llm" && typed.type !== "embedding";
  facts.enter("inputs");
  const asked = findInputs(subject);
  const rawInputs = formatFound(asked);
  facts.enter("outputs");
  const answered = findOutputs(subject);
  const bodies = { asked: asked?.value ?? null, answered: answered?.value ?? null };
  facts.enter("usage_metadata");
  const usage = readUsage(facts, typed.type === "tool" ? null : bodies.answered);
  const rawOutputs = outputsText(answered, usageIsSum ? null : usage);
  facts.enter("error");
  const error = formatError(facts, eventContent);
  facts.enter("events");
  const rawEvents = eventsText(facts, eventContent, times, unusedEvents(eventContent, rawInputs, rawOutputs));
  facts.enter("attachments");
  const media = takeMedia(facts, work.options);
  facts.enter("name");
  const name = chooseRunName(facts, typed.type).toWellFormed();
  const labels = readLabels(facts, work.context, work.options.project);
  const { call, text: rawExtra } = readExtra(work, typed.type, {
    usage,
    usageIsSum,
    said: rawInputs + rawOutputs,
    ...bodies,
  });
  const [inputs, outputs] = [media.take(rawInputs), media.take(rawOutputs)];
  const [events, extra] = [media.take(rawEvents), media.take(rawExtra)];
  const attachments = media.attachments();
  let size = inputs.length + outputs.length + extra.length + events.length + error.length + name.length;
  for (const one of attachments) size += one.bytes.length;
  return {
    ...labels, // first: behind other members a spread is slow
    name,
    runType: typed.type,
    startTime: rfc3339(times.start),
    endTime: rfc3339(times.end),
    status: error === "" ? "success" : "error",
    error,
    inputs: inputs === "" ? "{}" : inputs,
    outputs,
    extra,
    events,
    attachments,
    call,
    size,
  };
}

function takeMedia(facts: Facts, { inlineMedia }: TranslateOptions): Media {
  const given = readAttachments(facts);
  return inlineMedia === true ? { take: (text) => text, attachments: () => given } : createMedia(given);
}

function formatFound(content: Found | null): string {
  return content === null ? "" : (content.source ?? JSON.stringify(content.value));
}

function outputsText(content: Found | null, usage: JsonObject | null): string {
  const text = formatFound(content);
  return content === null || usage === null ? text : extended(text, content.value, "usage_metadata", usage);
}

/** Content, parameters and model of an explained run, whose media stay in the texts. */
function readSaid({ content }: UnplacedRun): string {
  if (content === null) return "";
  const { invocation_params: params = "" } = JSON.parse(content.extra) as JsonObject;
  return content.inputs + content.outputs + JSON.stringify(params) + content.call.model;
}

type Extra = Pick<MetadataParts, "usage" | "usageIsSum" | "said"> & Bodies;

/** Comes last. */
function readExtra(
  work: Work,
  type: RunContent["runType"],
  more: Extra,
): { readonly call: CallFacts; readonly text: string } {
  const { facts, eventContent, times, options } = work;
  const explain = options.explain === true;
  const out = new ObjectWriter();
  const model = readModel(facts, type, more);
  facts.enter("extra.invocation_params");
  const params = readInvocationParams(facts, eventContent, more.said);
  const paramsText = params === null ? "" : JSON.stringify(params);
  const said = more.said + paramsText + model.name; // what the leftovers need not repeat
  facts.enter("extra.metadata");
  out.putText("metadata", formatMetadata(facts, { ...more, said, model, timeFromArrival: times.fromArrival, explain }));
  if (params !== null) out.putText("invocation_params", paramsText);
  const call = {
    operation: facts.peek(OPERATION),
    provider: model.provider,
    model: model.name,
    requestModel: textMember(params ?? undefined, "model") || model.requested,
    isCompletion: model.type === "llm",
    seconds: readSeconds(times),
    usage: more.usageIsSum ? null : more.usage,
  };
  return { call, text: out.text() };
}

function isGenAi(facts: Facts, eventContent: SpanEventContent): boolean {
  if (usesVectors(facts, eventContent)) return true;
  return facts.isGenAi() || eventContent.isGenAi || isGenAiName(facts.span.name) || isGenAiScope(facts.span.scope.name);
}

function isTrue(value: unknown): boolean {
  return value === true || (typeof value === "string" && value.toLowerCase() === "true");
}
