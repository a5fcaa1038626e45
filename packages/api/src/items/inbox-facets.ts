// API contract of the facets of the inbox: how many items each choice of a filter has.
import * as z from "zod";
import { deadlineBucket, inboxChoices, itemKind } from "../inbox-filter.ts";
import { operation } from "../operation.ts";
import { flag } from "../schemas.ts";

const counted = <Value extends z.ZodType>(value: Value) =>
  z.array(z.object({ value, count: z.number().int() })).describe("most frequent first, at most 100");

const facets = z
  .object({
    total: z.number().int().describe("items that match all filters"),
    graph_id: counted(z.string()),
    assistant_id: counted(z.string()),
    node: counted(z.string()),
    kind: counted(itemKind),
    claimed_by: counted(z.string().nullable()).describe("most frequent first, at most 100; null: unclaimed"),
    snoozed: counted(z.boolean()).describe("true: with a follow-up date in the future"),
    deadline: counted(deadlineBucket),
    metadata: z
      .array(
        z.object({
          key: z.string(),
          count: z.number().int(),
          values: z.array(z.object({ value: z.json(), count: z.number().int() })).describe("at most 20"),
        }),
      )
      .optional()
      .describe("with metadata_choices: texts, numbers, booleans and nulls of the threads' metadata, at most 30 keys"),
  })
  .meta({ id: "InboxFacets" });

export type InboxFacets = z.infer<typeof facets>;

export const facetInbox = operation("facetInbox", "get", "/inbox/facets", {
  tag: "Inbox",
  access: "threads:search",
  summary: "Count the items that each choice of a filter would select",
  query: inboxChoices.extend({ metadata_choices: flag.describe("also count the members of the metadata") }),
  reply: facets,
  description:
    "A facet counts the items that match all filters but its own, so that its other choices have counts too. Items that come or go meanwhile may be counted or not.",
});
