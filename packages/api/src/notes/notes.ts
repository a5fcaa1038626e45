// Notes: a description and an example for each operation of the OpenAPI document.
// Invariant notes.1: an example of a body, a query or a reply is valid for the schema of its operation.
import type { Note } from "./note.ts";
import { requestNotes } from "./request-notes.ts";
import { runNotes, streamNotes } from "./run-notes.ts";
import { assistantNotes, threadNotes } from "./state-notes.ts";
import * as value from "./values.ts";
import { ASSISTANT_ID, AT, CHECKPOINT_ID, INTERRUPT_ID, RUN_ID, THREAD_ID } from "./values.ts";

// Notes of policies.

const rule = { action: "refund", when: { "args.amount": { lte: 50 } }, answer: "approve" };

const policy = {
  policy_id: "01a1fd90-1c5b-7d2e-9b0a-0d6f1c2b3a4e",
  source: "stored",
  when: { "args.amount": { lte: 50 }, action: { eq: "refund" } },
  answer: "approve",
  until: null,
  created_by: "ann",
  created_at: AT,
  administrator: false,
};

const policyNotes: Readonly<Record<string, Note>> = {
  listPolicies: {
    description: "A policy that has ended or was revoked is not among them.",
    reply: { policies: [policy] },
  },
  createPolicy: {
    description: "A later question that fits is answered in the commit that creates it.",
    body: rule,
    reply: policy,
  },
  revokePolicy: { description: "Answers that it gave stay." },
  dryRunPolicy: {
    description: "Nothing is stored.",
    body: rule,
    reply: {
      decisions: 1000,
      answered: 212,
      approved: 211,
      same: 211,
      text: "Of the last 1000 decisions, this rule would have answered 212, people had approved 211.",
      others: [],
    },
  },
};

const crons: Readonly<Record<string, Note>> = {
  createCron: {
    description: "At each tick at most one run starts, also after a crash of the server.",
    body: { assistant_id: "agent", schedule: "0 9 * * 1-5", timezone: "Europe/Berlin", input: { some_text: "x" } },
    reply: value.cronExample,
  },
  createThreadCron: {
    description: "All runs of the cron share the thread and its state.",
    body: { assistant_id: "agent", schedule: "0 * * * *", input: { some_text: "x" } },
    reply: value.cronExample,
  },
  searchCrons: {
    description: "Filters combine; `select` returns only the named members.",
    body: { assistant_id: "agent", limit: 10 },
    reply: [value.cronExample],
  },
  countCrons: { description: "Takes the filters of the search.", body: { enabled: true }, reply: 1 },
  getCron: { description: "With its next tick; null while it is disabled.", reply: value.cronExample },
  patchCron: {
    description: "`enabled: false` suspends the schedule; `true` continues it with the next tick.",
    body: { enabled: false },
    reply: value.cronExample,
  },
  deleteCron: { description: "Threads of earlier runs stay." },
};

const store: Readonly<Record<string, Note>> = {
  putItem: {
    description: "Graphs see the item through LangGraph's `store`. Namespace labels contain no dots.",
    body: { namespace: ["users", "7"], key: "profile", value: { name: "Ann" }, ttl: 1440 },
  },
  getItem: {
    description: "A read counts as a use where the store refreshes times to live.",
    query: { namespace: "users.7", key: "profile" },
    reply: value.storeItemExample,
  },
  deleteItem: {
    description: "An absent item is no error.",
    body: { namespace: ["users", "7"], key: "profile" },
  },
  searchItems: {
    description: "`filter` compares members of the value, with operators such as `$gt`; `query` ranks by similarity.",
    body: { namespace_prefix: ["users"], filter: { name: "Ann" }, limit: 10 },
    reply: { items: [value.storeItemExample] },
  },
  listNamespaces: {
    description: "`max_depth` truncates namespaces and removes duplicates.",
    body: { prefix: ["users"], max_depth: 2 },
    reply: { namespaces: [["users", "7"]] },
  },
};

const COMMENT = {
  seq: 2,
  at: "2026-11-21T10:05:30.826Z",
  action: "commented",
  entry_kind: "decision",
  by: "ann",
  via: "inbox",
  address: null,
  user_agent: null,
  thread_id: THREAD_ID,
  interrupt_id: INTERRUPT_ID,
  run_id: null,
  value: "The customer confirmed by phone.",
};

const inbox: Readonly<Record<string, Note>> = {
  listInbox: {
    description: "The list behind the console's inbox. Read pages with `cursor` until `next_cursor` is null.",
    query: { kind: "tool_approval", older_than: "2h", limit: "50" },
    reply: { items: [value.itemExample], next_cursor: null },
  },
  countInbox: {
    description: "The true total, for a badge. It reads an index, not the items.",
    reply: { count: 2 },
  },
  facetInbox: {
    description:
      "The choices of a filter bar, with their true numbers. Their names are those of the list's parameters.",
    query: { kind: "tool_approval" },
    reply: {
      total: 2,
      graph_id: [{ value: "agent", count: 2 }],
      assistant_id: [{ value: ASSISTANT_ID, count: 2 }],
      node: [{ value: "human_node", count: 2 }],
      kind: [
        { value: "question", count: 5 },
        { value: "tool_approval", count: 2 },
      ],
      claimed_by: [
        { value: null, count: 1 },
        { value: "ann", count: 1 },
      ],
      snoozed: [{ value: false, count: 2 }],
      deadline: [
        { value: "hour", count: 1 },
        { value: "none", count: 1 },
      ],
    },
  },
  getInboxItem: {
    description: "After the answer, `answered` has its author, time and value.",
    reply: value.itemExample,
  },
  claimInboxItem: {
    description: "A claim of another person refuses answers of the inbox until it ends or is released.",
    body: { by: "ann", expires_in_seconds: 900 },
    reply: value.itemExample,
  },
  releaseInboxItem: {
    description: "`force` releases a claim of another person; the audit trail records the release.",
    body: { by: "ann", force: false },
    reply: value.itemExample,
  },
  askAgain: {
    description: "A run continues the thread without the answer, and its node asks anew. An open item stays as it is.",
    body: { by: "ann" },
    reply: value.itemExample,
  },
  assignInboxItem: {
    description: "The assignment is a claim in another person's name. It never widens the review rules of the item.",
    body: { by: "ann", to: "bob", expires_in_seconds: 900 },
    reply: value.itemExample,
  },
  snoozeInboxItem: {
    description: "The item stays open and can be answered; lists with `snoozed=false` leave it out until then.",
    body: { by: "ann", for_seconds: 86_400 },
    reply: value.itemExample,
  },
  addComment: {
    description: "A comment is an entry of the thread's audit trail: it never changes, and goes with the trail.",
    body: { by: "ann", text: "The customer confirmed by phone." },
    reply: value.itemExample,
  },
  listComments: {
    description: "The entries `commented` of the audit trail. Read pages with `after` until `next_after` is null.",
    query: { limit: "100", after: "0" },
    reply: { items: [COMMENT], next_after: null },
  },
  answerInbox: {
    description: "The server accepts each answer exactly once; a late answer learns the name of the accepted one.",
    body: { answers: [{ thread_id: THREAD_ID, interrupt_id: INTERRUPT_ID, resume: "edited text" }], by: "ann" },
    reply: {
      results: [{ thread_id: THREAD_ID, interrupt_id: INTERRUPT_ID, status: "answered", run_id: RUN_ID }],
    },
  },
  watchInbox: {
    description: "Keep one connection open per page; each event names the item that changed.",
    media: "text/event-stream",
    reply: "event: ready\ndata: {}\n\n",
  },
  searchAudit: {
    description: "For a view of decisions over all threads, and for exports.",
    query: { action: "answered,expired", by: "ann", q: "refund 4711", limit: "50" },
    reply: { items: [], next_cursor: null },
  },
  verifyAudit: {
    description:
      "Reads the whole trail once. An entry that was changed, removed or added in the database is a fault; entries that retention deleted are not.",
    reply: {
      intact: true,
      entries: 1,
      deleted: 0,
      erased: 0,
      chains: 1,
      anchor: `1:1:${"0".repeat(64)}`,
      faults: [],
      fault_count: 0,
    },
  },
  getAudit: {
    description: "Entries are written in the transaction of the action that they record, and never change.",
    query: { limit: "100", after: "0", format: "json" },
    reply: { items: [], next_after: null },
  },
};

const access: Readonly<Record<string, Note>> = {
  createKey: {
    description: "Store the key at once: only its hash is kept.",
    body: { name: "nightly-report", role: "operator", expires_in_days: 90, assistants: ["agent"] },
    reply: { ...value.keyExample, key: "hp_0jmXyhN6b0pJbHeqdiyUAbJrtsbFcmIyBHAL6xQMNdM" },
  },
  listKeys: { description: "For reviews of who has access.", reply: { keys: [value.keyExample] } },
  revokeKey: { description: "Requests with the key get 401 from now on." },
  listPeople: {
    description: "For assignments and notifications. The directory keeps people until they are removed.",
    query: { group: "finance", limit: "100" },
    reply: { people: [value.personExample], next_after: null },
  },
  readOwnConsole: { description: "The same in every browser of the person.", reply: value.consoleExample },
  writeOwnConsole: {
    description: "Of two browsers that write at once, the later one reads again, and adds its change.",
    body: value.consoleBodyExample,
    reply: value.consoleExample,
  },
  erasePerson: {
    description: "For a person who wants to be forgotten. First remove the account at the provider.",
    body: { dry_run: false },
    reply: {
      pseudonym: "erased-82c1b93d54d4",
      dry_run: false,
      places: { people: 1, sessions: 2, audit: 40, interrupts: 38, traces: 12 },
      complete: true,
      next_cursor: null,
    },
  },
  deletePerson: { description: "For a person who has left: first remove the account at the provider." },
};

const meta: Readonly<Record<string, Note>> = {
  getOk: {
    description: "The health check of the reference server.",
    reply: { ok: true, services: { api: "ok", queue: "ok" } },
  },
  getLive: { description: "For a liveness probe: no storage is read.", reply: { ok: true } },
  getReady: {
    description: "For a readiness probe: 503 takes the process out of the load balancer.",
    reply: { ok: true },
  },
  getInfo: {
    description: "Clients read `flags` to learn which parts of the API are served.",
    reply: { version: "0.1.0", langgraph_js_version: "1.7.3", context: "js", flags: { threads: true } },
  },
  getMetrics: {
    description: "For Prometheus, or any collector that reads its text format.",
    media: "text/plain",
    reply: "# TYPE http_requests_total counter\n",
  },
  getOpenApi: {
    description: "Generated from the schemas that validate the requests of this server.",
    reply: { openapi: "3.1.0" },
  },
};

export const NOTES: Readonly<Record<string, Note>> = {
  ...assistantNotes,
  ...threadNotes,
  ...runNotes,
  ...streamNotes,
  ...crons,
  ...store,
  ...inbox,
  ...policyNotes,
  ...requestNotes,
  ...access,
  ...meta,
};

export const PATH_EXAMPLES: Readonly<Record<string, string>> = {
  thread_id: THREAD_ID,
  run_id: RUN_ID,
  assistant_id: ASSISTANT_ID,
  checkpoint_id: CHECKPOINT_ID,
  cron_id: value.CRON_ID,
  interrupt_id: INTERRUPT_ID,
  request_id: THREAD_ID,
  key_id: value.KEY_ID,
  policy_id: "01a1fd90-1c5b-7d2e-9b0a-0d6f1c2b3a4e",
  person: "ann@example.com",
  namespace: "review",
};

export const TAGS: Readonly<Record<string, string>> = {
  Assistants: "Graphs with a config and context of their own.",
  Threads: "State, history and metadata of conversations and tasks.",
  Runs: "Executions of a graph on a thread, and the answers to its pauses.",
  Streams: "Server-sent events of runs and threads.",
  Requests: "Questions of any program, each answered once.",
  Inbox: "Open interrupts of all threads: lists, claims, answers, audit trail.",
  Crons: "Runs on a schedule.",
  Store: "Long-term memory that graphs share.",
  Access: "Keys of programs, and people who have signed in.",
  Meta: "Health, version, metrics and this document.",
};
