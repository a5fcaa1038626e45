// Run share: the part of a run that its trace sums up, and the run as lists and trees show it.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { readFacts, microseconds, type Facts } from "./facts.ts";
import type { Field } from "./run-change.ts";

/** A run's share in its trace's sums. */
export interface Share {
  readonly start: number;
  readonly end: number | null;
  readonly status: "pending" | "success" | "error";
  readonly facts: Facts;
  readonly bytes: number;
}

/** The large fields of a run, as JSON texts. */
export type FieldTexts = Readonly<Partial<Record<Field, string>>>;

const ERROR_UNITS_IN_LISTS = 300;

export function buildShare(main: JsonObject, fields: FieldTexts, files: number): Share {
  const value = (field: Field): Json | undefined =>
    fields[field] === undefined ? undefined : (JSON.parse(fields[field]) as Json);
  const texts = Object.values(fields).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const end = microseconds(main["end_time"]);
  const failed = main["status"] === "error" || (fields.error !== undefined && fields.error !== '""');
  return {
    start: microseconds(main["start_time"]) ?? 0,
    end,
    status: failed ? "error" : end === null ? "pending" : "success",
    facts: readFacts({ main, extra: value("extra"), outputs: value("outputs"), events: value("events") }),
    bytes: Buffer.byteLength(JSON.stringify(main)) + texts + files,
  };
}

/** The run for trees and lists: all but its large fields. */
export function formatSummary(main: JsonObject, fields: FieldTexts, share: Share): string {
  const { model, inputTokens, outputTokens, cost, firstTokenAt } = share.facts;
  return JSON.stringify({
    ...main,
    status: share.status,
    ...(fields.error === undefined ? {} : { error: clipped(JSON.parse(fields.error) as Json) }),
    start_us: share.start,
    end_us: share.end,
    ...(model === null ? {} : { model }),
    ...(inputTokens + outputTokens === 0 ? {} : { input_tokens: inputTokens, output_tokens: outputTokens }),
    ...(cost === null ? {} : { cost }),
    ...(firstTokenAt === null ? {} : { first_token_us: firstTokenAt }),
  });
}

export function clipped(error: Json): string {
  return (typeof error === "string" ? error : JSON.stringify(error)).slice(0, ERROR_UNITS_IN_LISTS);
}
