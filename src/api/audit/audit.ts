// API contract of the audit trail over all threads.
import * as z from "zod";
import { operation } from "../operation.ts";
import { uuid } from "../schemas.ts";

const TAG = "Inbox";

const HEADS_MAX = 1000;

/** `1:532:ab…,2:44:cd…`: chain, count and hash of each chain. */
const anchor = z
  .string()
  .max(100_000)
  .regex(/^(?:\d{1,9}:\d{1,15}:[0-9a-f]{64}(?:,|$))*$/, "must be the anchor of an earlier reply")
  .transform((text) =>
    text
      .split(",", HEADS_MAX)
      .filter((part) => part !== "")
      .map((part) => {
        const [chain = "", count = "", hash = ""] = part.split(":");
        return { chain: Number(chain), count: Number(count), hash };
      }),
  );

export const verifyAudit = operation("verifyAudit", "get", "/audit/verify", {
  tag: TAG,
  access: "threads:search",
  summary: "Verify the hash chains of the audit trail: finds changed, missing and added entries",
  query: z.object({
    anchor: anchor.optional().describe("the anchor of an earlier reply, which the trail must extend"),
  }),
  reply: z.object({
    intact: z.boolean(),
    entries: z.number().int(),
    deleted: z.number().int().describe("entries that retention or the deletion of a thread removed; they are verified"),
    unchained: z.number().int().describe("entries from a release without chains; nothing verifies them"),
    chains: z.number().int(),
    anchor: z.string().describe("the heads of the chains: keep it where nobody can change it"),
    faults: z
      .array(
        z.object({
          fault: z.enum(["changed", "missing", "added", "rewritten"]),
          chain: z.number().int(),
          position: z.number().int(),
          last_position: z.number().int().describe("missing entries may be a range"),
          thread_id: uuid.nullable(),
          seq: z.number().int().nullable().describe("the entry's number in the trail of its thread"),
        }),
      )
      .describe("the first 100"),
    fault_count: z.number().int(),
  }),
  refusals: ["forbidden"],
});
