// Stored value: a value of a checkpoint as read, for both storages.
// Invariant stored-value.1: reading the content parses the text of a large value; lists and replies pass the text
// through.
import { lazyJson } from "../../base/lazy-json.ts";
import { mayHoldTags, type Stored } from "../../agent/model/model.ts";

export function storedValue(text: string): Stored {
  return Object.assign(lazyJson(text), { tagged: mayHoldTags(text) }); // stored-value.1
}

/** The small values of one step, by channel. */
export type Step = ReadonlyMap<string, Stored>;

export function storedStep(small: string): Step {
  const tagged = mayHoldTags(small);
  const entries = Object.entries(JSON.parse(small) as Record<string, Stored["json"]>);
  return new Map(entries.map(([channel, json]) => [channel, { json, tagged }]));
}
