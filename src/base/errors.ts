// Errors that cross the agent server's API: one table of codes, one class.
// Invariants:
//   ER1. Every refusal has a code of this table; docs/errors.md lists exactly these (test/docs.test.ts).
//   ER2. The status of a code never depends on where it is thrown. The one exception is HandlerRefusal: what the user's
//        own handlers refuse has the status that they chose.

/** `code → [HTTP status, title]`. The title is fixed per code, the detail says what happened this time. */
export const ERROR_CODES = {
  malformed_json: [400, "The body is not valid JSON"],
  malformed_request: [400, "The request cannot be read"],
  unauthenticated: [401, "The request carries no valid credentials"],
  forbidden: [403, "The caller may not do this"],
  refused_by_handler: [400, "The authentication handler refuses the request"],
  forbidden_host: [403, "This Host header is not served here"],
  forbidden_origin: [403, "Pages of this origin may not do this"],
  not_found: [404, "There is nothing at this address"],
  thread_not_found: [404, "Thread not found"],
  run_not_found: [404, "Run not found"],
  assistant_not_found: [404, "Assistant not found"],
  assistant_version_not_found: [404, "Assistant version not found"],
  graph_not_found: [404, "Graph not found"],
  trace_not_found: [404, "Not in the trace store"],
  part_absent: [404, "This process has no such part"],
  sample_refused: [502, "The collector refused the sample span"],
  checkpoint_not_found: [404, "Checkpoint not found"],
  cron_not_found: [404, "Cron not found"],
  interrupt_not_found: [404, "Interrupt not found"],
  method_not_allowed: [405, "This address does not take that method"],
  thread_exists: [409, "Thread already exists"],
  assistant_exists: [409, "Assistant already exists"],
  assistant_built_in: [409, "The assistant belongs to its graph"],
  assistant_limit: [409, "There are too many assistants"],
  cron_limit: [409, "There are too many crons"],
  thread_busy: [409, "The thread has a run in progress"],
  no_pending_interrupt: [409, "No interrupt is waiting for an answer"],
  interrupt_stale: [409, "This interrupt has been answered or replaced"],
  interrupt_claimed: [409, "Somebody else has claimed this interrupt"],
  sibling_refused: [409, "Another answer for the same thread was refused"],
  answer_ambiguous: [409, "Several interrupts are waiting: say which one is answered"],
  nothing_to_continue: [409, "The thread has nothing to continue"],
  graph_incompatible: [409, "The deployed graph cannot continue this paused thread"],
  thread_without_graph: [409, "The thread has no graph yet"],
  run_active: [409, "The run is still active"],
  body_too_large: [413, "The body is too large"],
  unsupported_media_type: [415, "The body must be application/json"],
  invalid_request: [422, "The request does not have the expected shape"],
  body_too_deep: [422, "The body is nested too deeply"],
  interrupt_unknown: [422, "No such interrupt on this thread"],
  answer_delayed: [422, "An answer cannot be delayed"],
  answer_invalid: [422, "The answer does not fit the question's response schema"],
  control_value_refused: [422, "The graph library would act on a value instead of storing it"],
  webhook_refused: [422, "Webhooks cannot be sent to this address"],
  node_unknown: [422, "No such node in this graph"],
  state_update_invalid: [422, "The graph refuses this state update"],
  idempotency_run_deleted: [409, "The run of this Idempotency-Key was deleted"],
  idempotency_key_reused: [422, "This Idempotency-Key was used with another request"],
  cron_schedule_invalid: [422, "The cron's schedule is not well-formed, or never due"],
  store_namespace_invalid: [422, "The namespace is not well-formed"],
  store_item_invalid: [422, "The item cannot be stored like this"],
  store_item_too_large: [422, "The item is too large"],
  store_filter_invalid: [422, "The filter is not well-formed"],
  store_search_too_broad: [422, "The search would have to look at too much"],
  internal_error: [500, "The server failed"],
  graph_not_made: [500, "The function that makes the graph failed"],
  embedding_failed: [502, "The embedding function failed"],
  storage_unavailable: [503, "The storage cannot be written"],
  worker_not_listed: [503, "This worker's runs are another's"],
  commit_unknown: [503, "The storage did not say whether it was stored"],
  overloaded: [503, "Too many runs are waiting"],
  page_unavailable: [503, "The page has not been built"],
  shutting_down: [503, "The server is shutting down"],
} as const satisfies Record<string, readonly [status: number, title: string]>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** Expected refusal: becomes an RFC 9457 problem at the edge. `extra` members are added to the problem object. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    detail: string,
    extra: Readonly<Record<string, unknown>> = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail);
    this.name = "ApiError";
    this.code = code;
    this.extra = extra;
    this.headers = headers;
  }

  get status(): number {
    return ERROR_CODES[this.code][0];
  }
}

/** Refused by code of the user, with a status of its choice. */
export class HandlerRefusal extends ApiError {
  readonly #status: number;

  constructor(status: number, detail: string, headers: Readonly<Record<string, string>>) {
    super("refused_by_handler", detail, {}, headers);
    this.#status = status;
  }

  override get status(): number {
    return this.#status;
  }
}

/** Anything thrown → `{name, message}` without ever failing itself. */
export function describeError(thrown: unknown): { readonly name: string; readonly message: string } {
  if (thrown instanceof Error) return { name: thrown.name || "Error", message: thrown.message };
  return { name: "Error", message: typeof thrown === "string" ? thrown : safeText(thrown) };
}

function safeText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return "a value that cannot be shown was thrown";
  }
}
