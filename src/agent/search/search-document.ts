// Search documents: the words by which searches find a thread, its items, and their audit entries.
// Invariants:
//   search-document.1. The document of an item also has the words of its thread, so that one search finds both.
//   search-document.2. Members of an answer that its schema marks as secret have no words.
import type { Json, JsonObject } from "../../base/json/json.ts";
import { isJsonObject } from "../../base/json/json.ts";
import type { Interrupt, Thread } from "../model/model.ts";
import { createWordBag, type WordBag } from "../model/search/search-words.ts";
import type { AuditRecord, SearchDocument } from "../ports/ports.ts";

export interface SearchSource {
  readonly thread: Thread;
  /** State of the thread; null if it has none, or a very large one. */
  readonly values: Json;
  readonly items: readonly Interrupt[];
  readonly trail: readonly AuditRecord[];
}

const STATE_UNITS_MAX = 20_000;

export function documentsOf({ thread, values, items, trail }: SearchSource): readonly SearchDocument[] {
  const entriesOf = Map.groupBy(trail, ({ interruptId }) => interruptId ?? "");
  const byId = new Map(items.map((item) => [item.interruptId, item]));
  const addEntries = (bag: WordBag, interruptId: string): void => {
    for (const { by, value } of entriesOf.get(interruptId) ?? []) {
      bag.add(by);
      bag.add(withoutSecrets(value, byId.get(interruptId)?.responseSchema ?? null));
    }
  };
  const ofThread = createWordBag();
  addThread(ofThread, thread, values);
  addEntries(ofThread, "");
  const ofItems = items.map((item): SearchDocument => {
    const { interruptId, state, node, graphId, kind, value, answer, claim, responseSchema } = item;
    const bag = createWordBag();
    for (const text of [interruptId, node, graphId, kind, claim?.by ?? ""]) bag.add(text);
    bag.add(value);
    if (answer !== null) {
      bag.add(answer.by);
      bag.add(withoutSecrets(answer.value, responseSchema));
    }
    addEntries(bag, interruptId);
    addThread(bag, thread, values); // search-document.1
    return { interruptId, kind: state === "open" ? "open" : "closed", words: bag.words() };
  });
  return [{ interruptId: "", kind: "thread", words: ofThread.words() }, ...ofItems];
}

function addThread(bag: WordBag, { threadId, graphId, assistantId, metadata, error }: Thread, values: Json): void {
  for (const text of [threadId, graphId ?? "", assistantId ?? ""]) bag.add(text);
  bag.add(metadata);
  bag.add(error === null ? null : error.message);
  bag.add(values, STATE_UNITS_MAX);
}

/** search-document.2 */
function withoutSecrets(value: Json, schema: JsonObject | null): Json {
  if (schema === null) return value;
  if (isSecret(schema)) return null;
  const properties = schema["properties"] ?? null;
  if (!isJsonObject(value) || !isJsonObject(properties)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !isSecret(properties[key] ?? null)));
}

function isSecret(schema: Json): boolean {
  return isJsonObject(schema) && (schema["writeOnly"] === true || schema["format"] === "password");
}
