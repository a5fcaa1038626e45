// Retrieval: the query of a search or a reranker, the documents that it returned in the form of LangChain, and the
// records of memories.
import type { Json } from "@holdpoint/base/json/json.ts";
import { listWithin, found, type Found, type Subject } from "../messages/content.ts";
import { joinItems, member } from "../attributes/indexed.ts";
import { readBlocks } from "../forms/block-forms.ts";
import { unwrapped } from "../forms/members.ts";
import { sources } from "../attributes/known-keys.ts";
import { markUsed } from "../messages/unused-events.ts";
import { isObject, toJson, jsonWithin } from "../attributes/plain-values.ts";

const MEMORY_RECORDS = sources("gen_ai.memory.records");
const OPERATION = sources("gen_ai.operation.name");

const QUERY = sources(
  "gen_ai.retrieval.query.text",
  "gen_ai.retrieval.query",
  "gen_ai.memory.query.text",
  "db.vector.query.content",
  "reranker.query",
  "input.value",
  "db.query.text",
);
const RERANKED = sources("ai.documents");
const DOCUMENTS = sources("gen_ai.retrieval.documents");
const GENKIT_OUTPUT = sources("genkit:output");
const VECTOR_DOCUMENTS = sources("db.vector.query.response.documents", "ai.ranking");

export function findQuery({ facts }: Subject): Found | null {
  const query = facts.value(QUERY);
  const reranked = listWithin(facts, RERANKED);
  const documents = reranked.length > 0 ? reranked.map(jsonWithin) : joinItems(facts.family("rerankInput"));
  if (query === undefined && documents.length === 0) return null;
  const value = toJson(query);
  const given = documents.length === 0 ? {} : { documents: documents.map((one) => unwrapped(one, "document")) };
  if (isObject(value)) return found({ ...value, ...given });
  return found({ query: value, ...given });
}

/** Records of the operations that write: those that read have the records in their outputs. */
export function recordsToWrite({ facts }: Subject): Found | null {
  if (facts.peek(OPERATION) === "search_memory") return null;
  const records = toJson(facts.value(MEMORY_RECORDS));
  return records === null ? null : found({ records });
}

export function documentsFound({ facts, eventContent }: Subject): Found | null {
  const given = listWithin(facts, DOCUMENTS);
  if (given.length > 0) return found({ documents: given.map(toDocument) });
  const retrieved = listWithin(facts, VECTOR_DOCUMENTS);
  if (retrieved.length > 0) return found({ documents: retrieved.map((one) => toDocument(jsonWithin(one))) });
  const memories = facts.peek(OPERATION) === "search_memory" ? listWithin(facts, MEMORY_RECORDS) : [];
  if (memories.length > 0) return found({ documents: memories.map(toDocument) });
  for (const family of ["documents", "rerankOutput"] as const) {
    const items = joinItems(facts.family(family));
    if (items.length > 0) return found({ documents: items.map((item) => toDocument(unwrapped(item, "document"))) });
  }
  const answer = member(facts.has(GENKIT_OUTPUT) ? toJson(facts.value(GENKIT_OUTPUT)) : null, "documents");
  if (Array.isArray(answer) && answer.length > 0)
    return found({ documents: (answer as readonly Json[]).map(toDocument) });
  if (eventContent.documents.length === 0) return null;
  return markUsed(
    eventContent,
    found({ documents: eventContent.documents.map(queryResult).map(toDocument) }),
    "documents",
  );
}

/** OpenLLMetry's events: db.query.result.{id,score,distance,metadata,document}, db.search.result.{id,distance,entity}. */
function queryResult(item: Json): Json {
  if (!isObject(item)) return item;
  const named = new Map<string, Json>();
  for (const [name, value] of Object.entries(item)) {
    const short = name.replace(/^db\.(?:query|search)\.result\./, "");
    const target = short === "document" || short === "entity" ? "content" : short;
    named.set(named.has(target) ? name : target, value);
  }
  return Object.fromEntries(named);
}

function toDocument(item: Json): Json {
  if (!isObject(item))
    return { page_content: typeof item === "string" ? item : JSON.stringify(item), metadata: {}, type: "Document" };
  const read = ["content", "page_content", "text"].find((name) => (item[name] ?? null) !== null) ?? "";
  const { [read]: content, metadata, ...rest } = item;
  const own = jsonWithin(metadata);
  const isApart = isObject(own) && !Object.entries(own).some(([name, one]) => clashes(rest[name], one));
  return {
    page_content: Array.isArray(content) ? readBlocks(content as readonly Json[]) : (content ?? ""), // Genkit's parts
    metadata: { ...rest, ...(isApart ? own : own === null ? {} : { metadata: own }) },
    type: "Document",
  };
}

/** Another value under the same name. */
function clashes(one: Json | undefined, other: Json): boolean {
  return one !== undefined && JSON.stringify(one) !== JSON.stringify(other);
}
