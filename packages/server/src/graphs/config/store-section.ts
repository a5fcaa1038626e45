// Store section of langgraph.json → times to live, the fields of semantic search, and warnings about the rest.
import * as z from "zod";
import { describeError } from "@holdpoint/base/api-error.ts";
import { parsePath, WHOLE_ITEM } from "@holdpoint/base/json/json-path.ts";
import { sectionRemarks } from "./config-keys.ts";
import { parseExportPath, type ExportPath } from "./export-path.ts";

const MINUTES_MAX = 10 * 366 * 24 * 60;
const MINUTE_MS = 60_000;
const SWEEP_MINUTES = 5;
const DIMS_MAX = 8192;
const FIELDS_MAX = 100;

const minutes = z.number().positive().max(MINUTES_MAX);

function checkField(path: string, context: z.core.$RefinementCtx<string>): void {
  try {
    parsePath(path);
  } catch (error) {
    context.addIssue({ code: "custom", message: describeError(error).message });
  }
}

export const STORE_SECTION = z.looseObject({
  ttl: z
    .looseObject({
      default_ttl: minutes.nullish(),
      refresh_on_read: z.boolean().nullish(),
      sweep_interval_minutes: minutes.nullish(),
    })
    .nullish(),
  index: z
    .looseObject({
      embed: z.string().superRefine((text, context) => {
        const reason = reasonAgainst(text);
        if (reason !== null) context.addIssue({ code: "custom", message: reason });
      }),
      dims: z.number().int().min(1).max(DIMS_MAX),
      fields: z.array(z.string().max(1024).superRefine(checkField)).min(1).max(FIELDS_MAX).nullish(),
    })
    .nullish(),
});

export interface StoreConfig {
  /** null: an item stays unless its put sets a time to live. */
  readonly defaultTtlMs: number | null;
  readonly refreshOnRead: boolean;
  readonly sweepEveryMs: number;
  /** null: no semantic search. */
  readonly index: StoreIndexConfig | null;
}

export interface StoreIndexConfig {
  readonly embed: ExportPath;
  readonly dims: number;
  readonly fields: readonly string[];
}

function reasonAgainst(embed: string): string | null {
  if (parseExportPath(embed, "") !== null) return null;
  if (/\.py(:|$)/.test(embed))
    return `"${embed}" is a Python function; this server calls functions of JavaScript files`;
  const how =
    'export (texts: string[]) => Promise<number[][]>, or a LangChain Embeddings object, and write "./embed.ts:embed"';
  return /^[\w-]+:/.test(embed)
    ? `"${embed}" names a provider, and this server calls none by itself: in a file of yours ${how}`
    : `"${embed}" is not of the form "./file.ts:export": in a file of yours ${how}`;
}

/** @param folder base of the embedding function's path */
export function storeConfig(section: z.infer<typeof STORE_SECTION> | undefined, folder: string): StoreConfig {
  const { ttl, index } = section ?? {};
  const embed = index === null || index === undefined ? null : parseExportPath(index.embed, folder);
  return {
    defaultTtlMs:
      ttl?.default_ttl === null || ttl?.default_ttl === undefined ? null : Math.ceil(ttl.default_ttl * MINUTE_MS),
    refreshOnRead: ttl?.refresh_on_read ?? true,
    sweepEveryMs: Math.ceil((ttl?.sweep_interval_minutes ?? SWEEP_MINUTES) * MINUTE_MS),
    index: embed === null || !index ? null : { embed, dims: index.dims, fields: index.fields ?? [WHOLE_ITEM] },
  };
}

const KNOWN = new Set(["ttl", "index"]);
const OWN = { path: "the server's own database keeps the items" };

export function storeRemarks(section: object | undefined): readonly string[] {
  return sectionRemarks("store", section, KNOWN, OWN);
}
