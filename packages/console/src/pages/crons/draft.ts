// Draft: a cron in the form → the body of the call that creates or updates it. Pure.
import type { Cron } from "../../api/types.ts";
import { parseJson } from "../../json/parse-json.ts";

export interface Draft {
  readonly assistant: string;
  /** "": a separate thread per run. */
  readonly thread: string;
  readonly schedule: string;
  /** "": UTC. */
  readonly timezone: string;
  /** Value of a date and time input, in the browser's time zone; "": none. */
  readonly end: string;
  readonly keeps: boolean;
  /** JSON. */
  readonly input: string;
}

export const NEW_DRAFT: Draft = {
  assistant: "",
  thread: "",
  schedule: "0 9 * * MON-FRI",
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  end: "",
  keeps: false,
  input: "{}",
};

export function toDraft(cron: Cron): Draft {
  return {
    assistant: cron.assistant_id,
    thread: cron.thread_id ?? "",
    schedule: cron.schedule,
    timezone: cron.timezone ?? "",
    end: cron.end_time === null ? "" : localTime(new Date(cron.end_time)),
    keeps: cron.on_run_completed === "keep",
    input: JSON.stringify(cron.payload["input"] ?? {}, null, 2),
  };
}

/** Validation errors that the browser can detect; the server validates schedules. */
export function findFault(draft: Draft): string | null {
  if (draft.assistant === "") return "Choose an assistant.";
  if (draft.schedule.trim() === "") return "Enter a schedule.";
  const parsed = parseJson(draft.input);
  return parsed.ok ? null : `Input: ${parsed.error}`;
}

/** Members of both calls; a new cron also has its assistant. */
export function buildBody(draft: Draft): Readonly<Record<string, unknown>> {
  const parsed = parseJson(draft.input);
  return {
    schedule: draft.schedule.trim(),
    timezone: draft.timezone.trim() === "" ? null : draft.timezone.trim(),
    end_time: draft.end === "" ? null : new Date(draft.end).toISOString(),
    on_run_completed: draft.keeps ? "keep" : "delete",
    input: parsed.ok ? parsed.value : null,
  };
}

/** "2026-11-21T18:30": the format of a date and time input. */
function localTime(at: Date): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
}
