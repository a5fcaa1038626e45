// Run labels: the tags, project, example and serialized form of a run.
import type { Json } from "@holdpoint/base/json/json.ts";
import type { RequestContext, RunContent } from "../shared/trace-run.ts";
import { ObjectWriter } from "./attributes/json-writer.ts";
import { sources, type Sources, union } from "./attributes/known-keys.ts";
import { toJson } from "./attributes/plain-values.ts";
import { resourceText } from "./attributes/resource-texts.ts";
import type { Facts } from "./attributes/span-facts.ts";
import { takeUuid } from "./place-in-trace.ts";

export type RunLabels = Pick<RunContent, "serialized" | "tags" | "sessionName" | "sessionId" | "referenceExampleId">;

const SESSION_NAME = sources(
  "langsmith.trace.session_name",
  "ai.telemetry.metadata.ls_project_name",
  "openinference.project.name",
);
const SESSION_ID = sources("langsmith.trace.session_id", "ai.telemetry.metadata.ls_project_id");
const EXAMPLE = sources("langsmith.reference_example_id");
const TAGS = [
  "langsmith.span.tags",
  "tag.tags",
  "ai.telemetry.metadata.tags",
  "langfuse.trace.tags",
  "langfuse.tags",
  "mastra.tags",
  "braintrust.tags",
  "agentops.tags",
  "logfire.tags",
  "lmnr.association.properties.tags",
].map((name) => sources(name));
const ANY_TAGS = union(...TAGS);
const SERIALIZED: readonly (readonly [string, Sources])[] = [
  ["name", sources("gen_ai.serialized.name")],
  ["signature", sources("gen_ai.serialized.signature")],
  ["doc", sources("gen_ai.serialized.doc")],
];
const SERIALIZED_ANY = union(...SERIALIZED.map(([, from]) => from));
const RESOURCE_PROJECT = ["langsmith.project", "tracing.project", "openinference.project.name"];
const DEFAULT_PROJECT = "default";

/** @param project TRACING_PROJECT, for a span that names none */
export function readLabels(facts: Facts, context: RequestContext, project: string): RunLabels {
  facts.enter("serialized");
  const serialized = serializedText(facts);
  facts.enter("tags");
  const tags = readTags(facts);
  facts.enter("session_name");
  const sessionName = chooseProject(facts, context, project);
  const sessionId = takeUuid(facts, SESSION_ID);
  facts.enter("place in the trace");
  return { serialized, tags, sessionName, sessionId, referenceExampleId: takeUuid(facts, EXAMPLE) };
}

function chooseProject(facts: Facts, context: RequestContext, project: string): string {
  const name =
    context.project ||
    facts.text(SESSION_NAME) ||
    resourceText(facts.span, RESOURCE_PROJECT) ||
    project ||
    DEFAULT_PROJECT;
  return name.toWellFormed();
}

const NO_TAGS: readonly string[] = [];

/** Those of a trace and those of a span are different ones. */
function readTags(facts: Facts): readonly string[] {
  return facts.has(ANY_TAGS) ? [...new Set(TAGS.flatMap((from) => listTags(facts, from)))] : NO_TAGS;
}

function listTags(facts: Facts, from: Sources): readonly string[] {
  const mark = facts.mark();
  const read = toJson(facts.value(from));
  if (typeof read !== "string" && !isListOfText(read)) facts.release(mark);
  const list = typeof read === "string" ? read.split(",") : Array.isArray(read) ? (read as readonly Json[]) : [];
  return list.flatMap((tag) => (typeof tag === "string" && tag.trim() !== "" ? [tag.trim()] : []));
}

function isListOfText(read: Json): boolean {
  return Array.isArray(read) && (read as readonly Json[]).every((tag) => typeof tag === "string");
}

function serializedText(facts: Facts): string {
  if (!facts.has(SERIALIZED_ANY)) return "";
  const out = new ObjectWriter();
  for (const [name, from] of SERIALIZED) {
    const value = facts.value(from);
    if (value !== undefined) out.put(name, toJson(value));
  }
  return out.text();
}
