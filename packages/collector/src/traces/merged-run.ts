// Merged run: the stored state of a run and a change of it as the run's new state, and what its trace has of it. Pure.
import { hash } from "node:crypto";
import { createWordBag, type WordBag } from "@holdpoint/api/text/search-words.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import { hasOutput } from "./final-output.ts";
import { FIELDS, type Field, type RunChange } from "./run-change.ts";
import { buildShare, formatSummary, type FieldTexts, type Share } from "./run-share.ts";
import type { StoryRun } from "./story.ts";

export type Row = Readonly<Record<string, unknown>>;

export interface StoredRun {
  readonly main: JsonObject;
  readonly fields: FieldTexts;
  readonly share: Share;
}

/** Where a run belongs. */
export interface PlacedRun {
  readonly runId: string;
  readonly traceId: string;
  readonly dottedOrder: string;
  readonly main: JsonObject;
}

export interface MergedRun extends PlacedRun, StoredRun {
  readonly summary: string;
}

/** @returns null for a patch of an unknown run */
export function placeRun(before: StoredRun | null, { runId, main: changed }: RunChange): PlacedRun | null {
  const main: JsonObject = { ...before?.main, ...changed, id: runId };
  const { trace_id: traceId, dotted_order: dottedOrder } = main;
  if (typeof traceId !== "string" || typeof dottedOrder !== "string") return null;
  return { runId, traceId, dottedOrder, main };
}

/** @param files bytes of all attachments of the run */
export function mergeRun(
  placed: PlacedRun,
  before: StoredRun | null,
  { fields: changed }: RunChange,
  files: number,
): MergedRun {
  const fields = { ...before?.fields, ...changed }; // write.1
  const share = buildShare(placed.main, fields, files);
  return { ...placed, fields, share, summary: formatSummary(placed.main, fields, share) };
}

/** @param row with `main`, `facts` and the fields, opened */
export function toStoredRun(row: Row): StoredRun {
  const fields: Partial<Record<Field, string>> = {};
  for (const field of FIELDS) {
    const value = row[field];
    if (typeof value === "string") fields[field] = value;
  }
  return {
    main: JSON.parse(String(row["main"])) as JsonObject,
    share: JSON.parse(String(row["facts"])) as Share,
    fields,
  };
}

/** Project and name of a run; a trace has those of its root, before that of its first run. */
export function readNames(main: JsonObject): { readonly project: string; readonly name: string } {
  const [project, name] = [main["session_name"], main["name"]];
  return { project: typeof project === "string" ? project : "default", name: typeof name === "string" ? name : "" };
}

/** Key and value have any length. */
export function hashTag(tag: Tag): string {
  return hash("sha256", JSON.stringify(tag), "base64url").slice(0, 22);
}

export type Tag = readonly [kind: "model" | "tool" | "metadata" | "tag", key: string, value: string];

const NAME_UNITS_IN_TAGS = 500;

/** What searches find a trace by. */
export function listTags({ main, share: { facts } }: MergedRun): readonly Tag[] {
  const found: Tag[] = facts.metadata.map(([key, value]) => ["metadata", key, value]);
  if (facts.model !== null) found.push(["model", "", facts.model]);
  if (main["run_type"] === "tool" && typeof main["name"] === "string")
    found.push(["tool", "", main["name"].slice(0, NAME_UNITS_IN_TAGS)]);
  const { tags } = main;
  if (Array.isArray(tags)) for (const tag of tags) if (!isJsonObject(tag)) found.push(["tag", "", String(tag)]);
  return found;
}

const SEARCHED = ["inputs", "outputs", "error"] as const;

/** The words of a change: names and contents. */
export function addWords(bag: WordBag | undefined, { main, fields }: RunChange): WordBag {
  const words = bag ?? createWordBag();
  if (typeof main["name"] === "string") words.add(main["name"]);
  for (const field of SEARCHED) if (fields[field] !== undefined) words.add(JSON.parse(fields[field]) as Json);
  return words;
}

export const isAgentSpan = ({ facts }: Share): boolean => readKind(facts.metadata) !== null;

type Metadata = Share["facts"]["metadata"];

/** The agent server's name of a run or a wait. */
function readKind(metadata: Metadata): "run" | "wait" | null {
  const kind = metadata.find(([key]) => key === "holdpoint_kind")?.[1];
  return kind === "run" || kind === "wait" ? kind : null;
}

/** @param row of STORY_RUNS, opened */
export function toStoryRun(row: Row): StoryRun {
  const { start, end, status, facts } = JSON.parse(String(row["facts"])) as Share;
  const [kind, type, small] = [readKind(facts.metadata), row["type"], row["small_output"]];
  return {
    id: String(row["run_id"]),
    dottedOrder: String(row["dotted_order"]),
    type: typeof type === "string" ? type : "chain",
    status,
    start,
    end,
    hasOutput: hasOutput(Number(row["output_bytes"]), typeof small === "string" ? small : null),
    isAgentRun: kind === "run",
    isWait: kind === "wait",
    isPaused: kind === "run" && facts.metadata.some(([key, value]) => key === "ended_by" && value === "pause"),
  };
}
