// Notes of requests.
import type { Note } from "./note.ts";
import { AT, INTERRUPT_ID, THREAD_ID } from "./values.ts";

const open = {
  request_id: THREAD_ID,
  interrupt_id: INTERRUPT_ID,
  status: "open",
  url: `http://localhost:2024/console/inbox/${THREAD_ID}/${INTERRUPT_ID}`,
  title: "Deploy 1.4 to production?",
  payload: "Deploy 1.4 to production?",
  response_schema: { enum: ["yes", "no"] },
  metadata: { service: "shop" },
  requested_by: "ci",
  created_at: AT,
  expires_at: null,
  ended_at: null,
};

const answered = { ...open, status: "answered", ended_at: AT, answer: "yes", answered_by: "ann", answered_at: AT };

export const requestNotes: Readonly<Record<string, Note>> = {
  createRequest: {
    description: "With an `Idempotency-Key` the call can be repeated, also by a program that was restarted.",
    body: {
      payload: "Deploy 1.4 to production?",
      response_schema: { enum: ["yes", "no"] },
      deadline: 7200,
      metadata: { service: "shop" },
    },
    reply: open,
  },
  getRequest: {
    description: "With `wait` it replies at the end of the request, or after so many seconds.",
    query: { wait: "30" },
    reply: answered,
  },
  watchRequest: { description: "The stream ends after the end of the request.", reply: "event: request\ndata: {}\n\n" },
  searchRequests: {
    description: "Read pages with `cursor` until `next_cursor` is null.",
    body: { status: "open", metadata: { service: "shop" }, limit: 10 },
    reply: { items: [open], next_cursor: null },
  },
  answerRequest: {
    description: "It is an answer like any other: the schema and the review rules of the request apply.",
    body: { answer: "yes" },
    reply: answered,
  },
  cancelRequest: {
    description: "A cancelled request stays cancelled, however often it is cancelled.",
    body: { reason: "released by hand" },
    reply: { ...open, status: "cancelled", ended_at: AT, reason: "released by hand" },
  },
};
