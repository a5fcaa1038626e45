// Outbox: confirmed answers, held for some seconds for undo and then sent.
// Invariants:
//   outbox.1. An answer takes effect once: a retry uses the same idempotency key.
//   outbox.2. Leaving the page sends held answers: they are confirmed.
//   outbox.3. An undone answer is never sent.
import { sendAnswers, type Answer, type AnswerResult } from "./calls.ts";
import { createValue } from "../../hooks/value.ts";

export interface PendingAnswer {
  readonly id: string;
  /** "Approved refund", for display. */
  readonly label: string;
  readonly answers: readonly Answer[];
  readonly state: "held" | "sending" | "failed";
  /** Send time, in ms since 1970. */
  readonly sendAt: number;
  readonly error: unknown;
  readonly onResults: (results: readonly AnswerResult[]) => void;
}

export const outbox = createValue<readonly PendingAnswer[]>([]);
const timers = new Map<string, ReturnType<typeof setTimeout>>();

function change(id: string, changes: Partial<PendingAnswer>): void {
  outbox.set(outbox.get().map((parcel) => (parcel.id === id ? { ...parcel, ...changes } : parcel)));
}

/** @param holdMs 0 sends at once. */
export function post(
  label: string,
  answers: readonly Answer[],
  holdMs: number,
  onResults: PendingAnswer["onResults"],
): void {
  const id = newKey();
  const parcel: PendingAnswer = {
    id,
    label,
    answers,
    state: "held",
    sendAt: Date.now() + holdMs,
    error: null,
    onResults,
  };
  outbox.set([...outbox.get(), parcel]);
  if (holdMs <= 0) void send(id);
  else
    timers.set(
      id,
      setTimeout(() => void send(id), holdMs),
    );
}

/** Also outside secure contexts, which lack randomUUID(). */
function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Sends held answers now, and retries failed ones. */
export async function send(id: string, leaving = false): Promise<void> {
  clearTimeout(timers.get(id));
  timers.delete(id);
  const parcel = outbox.get().find((one) => one.id === id);
  if (parcel === undefined || parcel.state === "sending") return;
  change(id, { state: "sending" });
  try {
    const results = await sendAnswers(parcel.answers, id, leaving); // outbox.1
    drop(id);
    parcel.onResults(results);
  } catch (error) {
    change(id, { state: "failed", error });
  }
}

function drop(id: string): void {
  outbox.set(outbox.get().filter((parcel) => parcel.id !== id));
}

/** The last held answer, or the given failed one. @returns false without one. */
export function undoAnswer(id?: string): boolean {
  const parcel = outbox.get().findLast((one) => one.state !== "sending" && (id === undefined || one.id === id));
  if (parcel === undefined || (id === undefined && parcel.state !== "held")) return false;
  clearTimeout(timers.get(parcel.id)); // outbox.3
  timers.delete(parcel.id);
  drop(parcel.id);
  return true;
}

/** outbox.2; call once, at start. */
export function sendOnLeave(): void {
  window.addEventListener("pagehide", () => {
    for (const { id, state } of outbox.get()) if (state === "held") void send(id, true);
  });
}
