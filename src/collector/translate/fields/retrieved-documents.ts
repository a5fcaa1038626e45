// Retrieved documents: the documents that a search or a reranker returned, in the form of LangChain.
import type { Json } from "../../../base/json/json.ts";
import { listWithin, found, type Found, type Subject } from "../messages/content.ts";
import { itemsOf, member } from "../attributes/indexed.ts";
import { sources } from "../attributes/known-keys.ts";
import { taken } from "../messages/unheard-events.ts";
import { isObject, jsonWithin } from "../attributes/plain-values.ts";

const MEMORY_RECORDS = sources("gen_ai.memory.records");
const OPERATION = sources("gen_ai.operation.name");

const DOCUMENTS = sources("gen_ai.retrieval.documents");
const VECTOR_DOCUMENTS = sources("db.vector.query.response.documents", "ai.ranking");

export function documentsFound({ facts, talk }: Subject): Found | null {
  const given = listWithin(facts, DOCUMENTS);
  if (given.length > 0) return found({ documents: given.map(documentOf) });
  const retrieved = listWithin(facts, VECTOR_DOCUMENTS);
  if (retrieved.length > 0) return found({ documents: retrieved.map((one) => documentOf(jsonWithin(one))) });
  const memories = facts.peek(OPERATION) === "search_memory" ? listWithin(facts, MEMORY_RECORDS) : [];
  if (memories.length > 0) return found({ documents: memories.map(documentOf) });
  for (const family of ["documents", "rerankOutput"] as const) {
    const items = itemsOf(facts.family(family));
    if (items.length > 0)
      return found({ documents: items.map((item) => documentOf(member(item, "document") ?? item)) });
  }
  if (talk.documents.length === 0) return null;
  return taken(talk, found({ documents: talk.documents.map(queryResult).map(documentOf) }), "documents");
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

function documentOf(item: Json): Json {
  if (!isObject(item))
    return { page_content: typeof item === "string" ? item : JSON.stringify(item), metadata: {}, type: "Document" };
  const read = ["content", "page_content", "text"].find((name) => (item[name] ?? null) !== null) ?? "";
  const { [read]: content, metadata, ...rest } = item;
  const own = jsonWithin(metadata);
  const isApart = isObject(own) && !Object.entries(own).some(([name, one]) => clashes(rest[name], one));
  return {
    page_content: content ?? "",
    metadata: { ...rest, ...(isApart ? own : own === null ? {} : { metadata: own }) },
    type: "Document",
  };
}

/** Another value under the same name. */
function clashes(one: Json | undefined, other: Json): boolean {
  return one !== undefined && JSON.stringify(one) !== JSON.stringify(other);
}
