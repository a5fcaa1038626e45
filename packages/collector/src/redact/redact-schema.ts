// Redact schema: the rules of `redact` in the rules file.
import { z } from "zod";
import { DETECTORS } from "./find/detectors.ts";
import { PARTS } from "./parts.ts";

const RULES_MAX = 200;
const LIST_MAX = 200;
const TEXT_MAX = 1000;

const name = z.string().regex(/^[\w.-]{1,64}$/, "has 1 to 64 letters, digits, or _ . -");
const list = (item: z.ZodString): z.ZodArray<z.ZodString> => z.array(item).min(1).max(LIST_MAX);
const short = z.string().min(1).max(TEXT_MAX);

const RedactRuleSchema = z
  .strictObject({
    name: name.describe("Appears in metrics, and in the text that replaces a finding."),
    attributes: list(short)
      .optional()
      .describe("Paths: an attribute key, then members inside its value after a slash. Stars stand for any text."),
    detect: z.array(z.enum(DETECTORS)).min(1).optional().describe("Built-in detectors."),
    match: short.optional().describe("Regular expression in the syntax of RE2."),
    action: z.enum(["replace", "hash", "drop"]).default("replace"),
    replacement: z.string().max(TEXT_MAX).optional().describe("Text for `replace`. Default: the name in brackets."),
    in: z.array(z.enum(PARTS)).min(1).optional().describe("Parts of a request. Default: all but `names`."),
    projects: list(short).optional().describe("Only requests of these projects."),
    tenants: list(short).optional().describe("Only requests with these X-Tenant-Id headers."),
  })
  .refine(({ attributes, detect, match }) => attributes !== undefined || detect !== undefined || match !== undefined, {
    error: "needs at least one of attributes, detect and match",
  })
  .refine(({ action, replacement }) => action === "replace" || replacement === undefined, {
    error: "has a replacement, which only the action replace uses",
  });

export const RedactSchema = z
  .array(RedactRuleSchema)
  .max(RULES_MAX)
  .refine((rules) => new Set(rules.map((rule) => rule.name)).size === rules.length, {
    error: "has two rules with the same name",
  });

export type RedactDefinition = z.infer<typeof RedactRuleSchema>;
