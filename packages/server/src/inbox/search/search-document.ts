// Search documents: the words by which searches find a thread, its items, and their audit entries.
// Invariants:
//   search-document.1. The document of an item also has the words of its thread, so that one search finds both.
//   search-document.2. Members of an answer that its schema marks as secret have no words.
import type { Json } from "@holdpoint/base/json/json.ts";
import { readableValue } from "../../model/audit/readable-value.ts";
import type { Interrupt, Thread } from "../../model/model.ts";
import { maskSecrets } from "../../model/payload/mask-secrets.ts";
import { createWordBag, type WordBag } from "@holdpoint/api/text/search-words.ts";
import type { AuditRecord, SearchDocument } from "../../ports/ports.ts";

export interface SearchSource {
  readonly thread: Thread;
  /** State of the thread; null if it has none, or a very large one. */
  readonly values: Json;
  readonly items: readonly Interrupt[];
  readonly trail: readonly AuditRecord[];
}

const STATE_UNITS_MAX = 20_000;

export function buildDocuments({ thread, values, items, trail }: SearchSource): readonly SearchDocument[] {
  const entriesByItem = Map.groupBy(trail, ({ interruptId }) => interruptId ?? "");
  const byId = new Map(items.map((item) => [item.interruptId, item]));
  const addEntries = (bag: WordBag, interruptId: string): void => {
    for (const { action, by, value } of entriesByItem.get(interruptId) ?? []) {
      bag.add(by);
      // search-document.2
      bag.add(readableValue({ action, value }, byId.get(interruptId)?.responseSchema ?? null, maskSecrets));
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
      bag.add(maskSecrets(answer.value, responseSchema));
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
