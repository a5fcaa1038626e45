// Translate: a span → the content of a run and its declared place (receive → decode → translate → assemble → …).
// The rules are tables in the neighbouring files; this one applies them in order and joins the results.
// Invariants: trace-run.1, trace-run.2 (trace-run.ts), and
//   translate.1. Every span becomes a run or, with the filter on, a place without content. No span makes translation
//        throw.
//   translate.2. With content capture off a model call still is an llm run with model and usage.
//   translate.3. The metadata comes last: it takes every attribute that no other field used.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Span } from "../otlp/span.ts";
import { attachmentsOf } from "./fields/attachments.ts";
import type { Found, Subject } from "./messages/content.ts";
import { createFactsReader, type Facts, type FactsReader } from "./attributes/span-facts.ts";
import { inputsOf } from "./fields/inputs.ts";
import { textMember } from "./attributes/indexed.ts";
import { createObjectWriter, extended } from "./attributes/json-writer.ts";
import { isGenAiName, isGenAiScope, sources } from "./attributes/known-keys.ts";
import { createMedia, type Media } from "./media/media.ts";
import { type ExplainedAttribute, destinationsOf } from "./fields/destinations.ts";
import { metadataOf, type MetadataParts } from "./fields/metadata.ts";
import { invocationParamsOf } from "./fields/invocation-params.ts";
import { modelOf, OPERATION } from "./fields/model.ts";
import { errorOf } from "./fields/outcome.ts";
import { outputsOf } from "./fields/outputs.ts";
import { runNameOf } from "./fields/run-name.ts";
import { isVectorSearch, runTypeOf } from "./fields/run-type.ts";
import { talkOf, type SpanTalk } from "./messages/span-events.ts";
import { unheardEvents } from "./messages/unheard-events.ts";
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
import { usageOf } from "./fields/token-usage.ts";
import { parentOf, declaredIdsOf } from "./place-in-trace.ts";
import { labelsOf, type RunLabels } from "./run-labels.ts";
import { eventsText } from "./run-events.ts";
import { readSeconds, type Times, timesOf } from "./span-times.ts";

export interface TranslateOptions {
  /** FILTER_NON_GENAI: spans without a relation to generative AI keep their place, without an upload. */
  readonly filterNonGenAi: boolean;
  /** `filterNonGenAi` removes no span. Attributes are kept either way (leftovers.1). */
  readonly genericOtel?: boolean;
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
  const talk = talkOf(span);
  const facts = reader.read(span, talk.detailAttributes);
  const times = timesOf(span, context);
  const wanted = !options.filterNonGenAi || options.genericOtel === true || isGenAi(facts, talk);
  const isDropped = options.drop?.some((rule) => matches(rule, span)) ?? false;
  const isPending = facts.peek(LOGFIRE_TYPE) === "pending_span"; // a copy of a span that has not ended
  facts.enter("place in the trace");
  const parentSpanId = parentOf(facts);
  const parentIs = isTrue(facts.value(IS_APP_ROOT)) ? "remote" : readParentPlace(span);
  const isKept = wanted && !isDropped && !isPending;
  const isTop = parentSpanId === "" || parentSpanId === span.spanId;
  return {
    tenant: context.tenant,
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId,
    start: times.start,
    isRoot: parentSpanId === "" || isTrue(facts.value(IS_ROOT)),
    declared: declaredIdsOf(facts),
    content: isKept ? contentOf({ facts, talk, times, context, options }) : null,
    isDropped,
    ...(isKept || !isTop ? {} : { shell: shellOf(facts, times, labelsOf(facts, context, options.project)) }),
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

function shellOf(facts: Facts, times: Times, { sessionId, sessionName }: RunLabels): RunContent {
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
    return { run, attributes: facts === null ? [] : destinationsOf(facts, readSaid(run)) };
  };
}

interface Work {
  readonly facts: Facts;
  readonly talk: SpanTalk;
  readonly times: Times;
  readonly context: RequestContext;
  readonly options: TranslateOptions;
}

function contentOf(work: Work): RunContent {
  const { facts, talk, times } = work;
  facts.enter("run_type");
  const typed = runTypeOf(facts, talk);
  const subject: Subject = { facts, talk, type: typed.type };
  const usageIsSum = typed.declared && typed.type !== "llm" && typed.type !== "embedding";
  facts.enter("inputs");
  const rawInputs = textOf(inputsOf(subject));
  facts.enter("outputs");
  const found = outputsOf(subject);
  facts.enter("usage_metadata");
  const usage = usageOf(facts, typed.type === "tool" ? null : (found?.value ?? null));
  const rawOutputs = outputsText(found, usageIsSum ? null : usage);
  facts.enter("error");
  const error = errorOf(facts, talk);
  facts.enter("events");
  const rawEvents = eventsText(facts, talk, times, unheardEvents(talk, rawInputs, rawOutputs));
  facts.enter("attachments");
  const media = mediaOf(facts, work.options);
  facts.enter("name");
  const name = runNameOf(facts, typed.type).toWellFormed();
  const labels = labelsOf(facts, work.context, work.options.project);
  const { call, text: rawExtra } = readExtra(work, typed.type, { usage, usageIsSum, said: rawInputs + rawOutputs });
  const [inputs, outputs] = [media.take(rawInputs), media.take(rawOutputs)];
  const [events, extra] = [media.take(rawEvents), media.take(rawExtra)];
  const attachments = media.attachments();
  let size = inputs.length + outputs.length + extra.length + events.length + error.length + name.length;
  for (const one of attachments) size += one.bytes.length;
  return {
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
    ...labels,
    attachments,
    call,
    size,
  };
}

function mediaOf(facts: Facts, { inlineMedia }: TranslateOptions): Media {
  const given = attachmentsOf(facts);
  return inlineMedia === true ? { take: (text) => text, attachments: () => given } : createMedia(given);
}

function textOf(content: Found | null): string {
  return content === null ? "" : (content.source ?? JSON.stringify(content.value));
}

function outputsText(content: Found | null, usage: JsonObject | null): string {
  const text = textOf(content);
  return content === null || usage === null ? text : extended(text, content.value, "usage_metadata", usage);
}

/** Of an explained run, whose media stay in the texts. */
function readSaid({ content }: UnplacedRun): string {
  return content === null ? "" : content.inputs + content.outputs;
}

type Extra = Pick<MetadataParts, "usage" | "usageIsSum" | "said">;

/** Comes last (translate.3). */
function readExtra(
  work: Work,
  type: RunContent["runType"],
  more: Extra,
): { readonly call: CallFacts; readonly text: string } {
  const { facts, talk, times, options } = work;
  const explain = options.explain === true;
  const out = createObjectWriter();
  const model = modelOf(facts, type);
  facts.enter("extra.invocation_params");
  const params = invocationParamsOf(facts, talk, more.said);
  facts.enter("extra.metadata");
  out.putText("metadata", metadataOf(facts, { model, ...more, timeFromArrival: times.fromArrival, explain }));
  if (params !== null) out.put("invocation_params", params);
  const call = {
    operation: facts.peek(OPERATION),
    provider: model.provider,
    model: model.name,
    requestModel: textMember(params ?? undefined, "model"),
    isCompletion: model.type === "llm",
    seconds: readSeconds(times),
    usage: more.usageIsSum ? null : more.usage,
  };
  return { call, text: out.text() };
}

function isGenAi(facts: Facts, talk: SpanTalk): boolean {
  if (isVectorSearch(facts, talk)) return true;
  return facts.isGenAi() || talk.isGenAi || isGenAiName(facts.span.name) || isGenAiScope(facts.span.scope.name);
}

function isTrue(value: unknown): boolean {
  return value === true || (typeof value === "string" && value.toLowerCase() === "true");
}
