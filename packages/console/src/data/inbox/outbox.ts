// Outbox: given answers, held for some seconds for undo and then sent.
// Invariants:
//   - An answer takes effect once: a retry uses the same idempotency key.
//   - Leaving the page sends held answers, and repeats those on their way, whose calls the browser may cut off.
//   - An undone answer is never sent, and its item shows it again for a change.
//   - The browser asks before it leaves a page with answers that it could not send: failed ones, and more than a page
//     may send as it closes.
//   outbox.5. While an answer is held, `u` undoes it on every page.
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import type { Json } from "../../json/json.ts";
import { answersBody, sendAnswers, type Answer, type AnswerResult } from "./calls.ts";
import { buildKey } from "./item.ts";
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

/** The answer of an item that is on its way. */
export function findPendingAnswer(
  item: Pick<InboxItem, "thread_id" | "id">,
  pendingAnswers = outbox.get(),
): PendingAnswer | undefined {
  return pendingAnswers.find(({ answers }) =>
    answers.some((answer) => answer.interrupt_id === item.id && answer.thread_id === item.thread_id),
  );
}

/** outbox.5. */
export function hasHeld(pendingAnswers: readonly PendingAnswer[]): boolean {
  return pendingAnswers.some(({ state }) => state === "held");
}

/** Undone answers by item, for its editor. */
const undone = new Map<string, Json>();

export function undoneAnswer(itemKey: string): Json | undefined {
  return undone.get(itemKey);
}

function change(id: string, changes: Partial<PendingAnswer>): void {
  outbox.set(
    outbox.get().map((pendingAnswer) => (pendingAnswer.id === id ? { ...pendingAnswer, ...changes } : pendingAnswer)),
  );
}

/** @param holdMs 0 sends at once. */
export function post(
  label: string,
  answers: readonly Answer[],
  holdMs: number,
  onResults: PendingAnswer["onResults"],
): void {
  const id = newKey();
  for (const answer of answers) undone.delete(buildItemKey(answer));
  const pendingAnswer: PendingAnswer = {
    id,
    label,
    answers,
    state: "held",
    sendAt: Date.now() + holdMs,
    error: null,
    onResults,
  };
  outbox.set([...outbox.get(), pendingAnswer]);
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
  const pendingAnswer = outbox.get().find((one) => one.id === id);
  if (pendingAnswer === undefined || pendingAnswer.state === "sending") return;
  change(id, { state: "sending" });
  try {
    const results = await sendAnswers(pendingAnswer.answers, id, leaving);
    drop(id);
    pendingAnswer.onResults(results);
  } catch (error) {
    change(id, { state: "failed", error });
  }
}

function drop(id: string): void {
  outbox.set(outbox.get().filter((pendingAnswer) => pendingAnswer.id !== id));
}

const buildItemKey = ({ thread_id, interrupt_id: id }: Answer): string => buildKey({ thread_id, id });

/** The given answer, or the last held one. @returns null without one. */
export function undoAnswer(id?: string): PendingAnswer | null {
  const pendingAnswer = outbox.get().findLast((one) => (id === undefined ? one.state === "held" : one.id === id));
  if (pendingAnswer === undefined || pendingAnswer.state === "sending") return null;
  clearTimeout(timers.get(pendingAnswer.id));
  timers.delete(pendingAnswer.id);
  for (const answer of pendingAnswer.answers) {
    if (answer.resume !== undefined) undone.set(buildItemKey(answer), answer.resume);
  }
  drop(pendingAnswer.id);
  return pendingAnswer;
}

/** Browsers send at most 64 KiB of a page that closes; headers need the rest. */
const LEAVING_BYTES_MAX = 60_000;

/** Call once, at start. */
export function sendOnLeave(): void {
  window.addEventListener("beforeunload", (event) => {
    if (isAtRisk(outbox.get())) event.preventDefault();
  });
  window.addEventListener("pagehide", () => {
    for (const { id, state, answers } of outbox.get()) {
      if (state === "held") void send(id, true);
      else if (state === "sending") void sendAnswers(answers, id, true).catch(() => undefined);
    }
  });
}

function isAtRisk(pendingAnswers: readonly PendingAnswer[]): boolean {
  if (pendingAnswers.some(({ state }) => state === "failed")) return true;
  const texts = pendingAnswers.map(({ answers }) => JSON.stringify(answersBody(answers)));
  return new TextEncoder().encode(texts.join("")).length > LEAVING_BYTES_MAX;
}
