// Notes of runs and streams.
import type { Note } from "./note.ts";
import * as value from "./values.ts";
import { EVENTS_EXAMPLE, RUN_ID, THREAD_ID } from "./values.ts";

const EVENTS = { media: "text/event-stream", reply: EVENTS_EXAMPLE } as const;
const START = { assistant_id: "agent", input: { some_text: "original text" } };

export const runNotes: Readonly<Record<string, Note>> = {
  createRun: {
    description:
      "Returns as soon as the run is stored. `command.resume` answers the open interrupt. Send an `Idempotency-Key` header to repeat the call safely.",
    body: START,
    reply: { ...value.runExample, status: "pending", ended_by: null },
  },
  waitRun: {
    description:
      "Returns the final state, or the state with `__interrupt__` at a pause. Send an `Idempotency-Key` header to repeat the call safely.",
    body: { assistant_id: "agent", command: { resume: "edited text" } },
    reply: value.pauseExample,
  },
  listRuns: {
    description: "`select` returns only the named members.",
    query: { status: "success", limit: "10" },
    reply: [value.runExample],
  },
  getRun: {
    description: "`attempt` counts the starts of the run; it grows after the death of a process.",
    reply: value.runExample,
  },
  joinRun: {
    description: "Returns the reply of the run's waiting call.",
    query: { cancel_on_disconnect: "false" },
    reply: value.pauseExample,
  },
  cancelRun: {
    description: "`interrupt` keeps the checkpoints of the run, `rollback` deletes the run and reverts its writes.",
    query: { wait: "true", action: "interrupt" },
  },
  deleteRun: { description: "The thread keeps the state that the run wrote." },
  addRunWebhook: {
    description:
      "Also for a run that has paused: the runs that continue it, whoever answers, send events too. Headers are sent with each event.",
    body: { url: "https://hooks.example.com/runs", headers: { authorization: "Bearer of-the-receiver" } },
    reply: value.runWebhookExample,
  },
  listRunWebhooks: {
    description: "The same for every run of the chain: the webhooks belong to the first.",
    reply: [value.runWebhookExample],
  },
  deleteRunWebhook: { description: "Removing a webhook that is not there succeeds." },
  createStatelessRun: {
    description: "The thread ends with the run; `on_completion: keep` keeps it.",
    body: START,
    reply: { ...value.runExample, status: "pending", ended_by: null },
  },
  waitStatelessRun: {
    description: "The reply is that of a run on a thread.",
    body: START,
    reply: { some_text: "final text" },
  },
  createRunBatch: {
    description: "At most 1,000 bodies, each as for a single run.",
    body: [START],
    reply: [{ ...value.runExample, status: "pending", ended_by: null }],
  },
  cancelRuns: {
    description: "Names runs by their ids or by a status.",
    query: { action: "interrupt" },
    body: { thread_id: THREAD_ID, run_ids: [RUN_ID] },
  },
  getRunById: { description: "For callers that kept only the id of the run.", reply: value.runExample },
  joinRunById: {
    description: "Returns the reply of the run's waiting call.",
    query: { cancel_on_disconnect: "false" },
    reply: value.pauseExample,
  },
};

export const streamNotes: Readonly<Record<string, Note>> = {
  sendCommand: {
    description: "The thread protocol of newer clients: `run.start`, `input.respond` and others in one envelope.",
    body: { id: 1, method: "agent.getTree", params: {} },
  },
  streamThreadEvents: {
    description: "The events of the thread protocol over HTTP, for clients without a WebSocket.",
    body: { channels: ["values"] },
    ...EVENTS,
  },
  createSocketTicket: {
    description: "For pages in browsers, whose sockets can send no headers.",
    reply: { ticket: "sWbq9nHdVQ3mB1Xn0bC7Yk2v5T8zE4rJ6uLwPfGtKxI", expires_at: "2026-11-23T09:00:30.000Z" },
  },
  openThreadSocket: { description: "The events and the commands of the thread protocol on one connection." },
  streamRun: {
    description: "Each event has an id; `Content-Location` names the stream to continue after a broken connection.",
    body: { ...START, stream_mode: ["updates"] },
    ...EVENTS,
  },
  streamStatelessRun: {
    description: "The events are those of a run on a thread.",
    body: { ...START, stream_mode: ["messages-tuple"] },
    ...EVENTS,
  },
  joinRunStream: {
    description: "Any number of readers may follow a run, also after a restart of the server.",
    query: { stream_mode: "updates" },
    ...EVENTS,
  },
  joinRunStreamById: {
    description: "The same stream for callers that kept only the id of the run.",
    query: { stream_mode: "updates" },
    ...EVENTS,
  },
  joinThreadStream: {
    description: "Events of all later runs of the thread arrive on one connection.",
    query: { stream_mode: "run_modes" },
    ...EVENTS,
  },
};
