// Draft: a cron as it stands in a form → the body of the call that makes or changes it. Pure.
import type { Cron } from "../../api/types.ts";
import { parseJson } from "../../json/parse-json.ts";

export interface Draft {
  readonly assistant: string;
  /** "": every run has a thread of its own. */
  readonly thread: string;
  readonly schedule: string;
  /** "": UTC. */
  readonly timezone: string;
  /** As an input of a date and time gives it, in the browser's own zone; "": none. */
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

export function draftOf(cron: Cron): Draft {
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

/** What is wrong with it as far as the browser can tell; the server knows schedules. */
export function faultOf(draft: Draft): string | null {
  if (draft.assistant === "") return "Choose an assistant.";
  if (draft.schedule.trim() === "") return "Say when.";
  const parsed = parseJson(draft.input);
  return parsed.ok ? null : `Input: ${parsed.error}`;
}

/** The members that both calls have; a new cron also names its assistant. */
export function bodyOf(draft: Draft): Readonly<Record<string, unknown>> {
  const parsed = parseJson(draft.input);
  return {
    schedule: draft.schedule.trim(),
    timezone: draft.timezone.trim() === "" ? null : draft.timezone.trim(),
    end_time: draft.end === "" ? null : new Date(draft.end).toISOString(),
    on_run_completed: draft.keeps ? "keep" : "delete",
    input: parsed.ok ? parsed.value : null,
  };
}

/** "2026-11-21T18:30": what an input of a date and time takes. */
function localTime(at: Date): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
}
