// Stored step: the small values of one superstep as read, for both storages.
import { mayHoldTags, type Stored } from "../../model/model.ts";

/** The small values of one step, by channel. */
export type Step = ReadonlyMap<string, Stored>;

export function storedStep(small: string): Step {
  const tagged = mayHoldTags(small);
  const entries = Object.entries(JSON.parse(small) as Record<string, Stored["json"]>);
  return new Map(entries.map(([channel, json]) => [channel, { json, tagged }]));
}
