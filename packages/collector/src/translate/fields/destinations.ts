// Destinations: the field of the run that each attribute of a translated span went to. For `holdpoint collector
// explain`.
import { fieldsOfMask } from "../attributes/attribute-uses.ts";
import type { Facts } from "../attributes/span-facts.ts";
import { decideFate, isUsed, usedTexts } from "./leftovers.ts";

export interface ExplainedAttribute {
  readonly attribute: string;
  /** Fields of the run, or the reason why no field has the attribute. */
  readonly fields: readonly string[];
}

const FATES = {
  kept: "extra.metadata.otel.attributes",
  noise: "left out: transport noise",
  "same value": "left out: another attribute with this value was used",
} as const;

/** Call it after the translation and before the next one (span-facts.1). */
export function listDestinations(facts: Facts, said: string): readonly ExplainedAttribute[] {
  const list: ExplainedAttribute[] = [];
  const used = usedTexts(facts);
  facts.eachUse((key, value, plan, fields) =>
    list.push({
      attribute: key,
      fields: !isUsed(plan, fields)
        ? [FATES[decideFate(facts, { key, value, plan }, used, said)]]
        : fieldsOfMask(fields),
    }),
  );
  return list;
}
