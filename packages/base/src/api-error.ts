// API errors: one table of codes, one class.
// Invariants:
//   - Every refusal has a code of this table; docs/reference/errors.md lists exactly these codes
//     (test/project/docs.test.ts).
//   api-error.2. Each code has one status, wherever it is thrown. The exception is HandlerRefusal: a handler of the
//        user chooses its own status.

/** `code → [HTTP status, title]`. The title is constant per code; the detail describes the occurrence. */
export const ERROR_CODES = {
  malformed_json: [400, "The body is not valid JSON"],
  malformed_request: [400, "The request is malformed"],
  unauthenticated: [401, "Credentials are missing or invalid"],
  forbidden: [403, "The caller lacks permission"],
  refused_by_handler: [400, "The authentication handler rejected the request"],
  forbidden_host: [403, "The Host header is not allowed"],
  forbidden_origin: [403, "The origin is not allowed"],
  not_found: [404, "No route has this path"],
  thread_not_found: [404, "Thread not found"],
  run_not_found: [404, "Run not found"],
  assistant_not_found: [404, "Assistant not found"],
  assistant_version_not_found: [404, "Assistant version not found"],
  graph_not_found: [404, "Graph not found"],
  trace_not_found: [404, "Not found in the trace store"],
  part_absent: [404, "Not available in this process"],
  provider_unreachable: [502, "The OpenID provider does not respond"],
  part_unreachable: [502, "Another process does not respond"],
  sample_refused: [502, "The collector rejected the sample span"],
  checkpoint_not_found: [404, "Checkpoint not found"],
  cron_not_found: [404, "Cron not found"],
  key_not_found: [404, "Key not found"],
  policy_not_found: [404, "Policy not found"],
  person_not_found: [404, "Person not found"],
  interrupt_not_found: [404, "Interrupt not found"],
  request_not_found: [404, "Request not found"],
  method_not_allowed: [405, "The path does not support this method"],
  thread_exists: [409, "Thread already exists"],
  assistant_exists: [409, "Assistant already exists"],
  assistant_built_in: [409, "Built-in assistants are read-only"],
  assistant_limit: [409, "The assistant limit is reached"],
  cron_limit: [409, "The cron limit is reached"],
  key_limit: [409, "The key limit is reached"],
  policy_limit: [409, "The policy limit is reached"],
  policy_fixed: [409, "The policy is part of the deployment"],
  console_changed: [409, "What the console keeps has changed"],
  key_name_taken: [409, "The name belongs to a person"],
  keys_unused: [409, "This server does not use stored keys"],
  thread_busy: [409, "The thread has a run in progress"],
  thread_paused: [409, "The thread waits for a person"],
  no_pending_interrupt: [409, "No interrupt is pending"],
  interrupt_stale: [409, "The interrupt is already answered or replaced"],
  interrupt_claimed: [409, "Another person has claimed this interrupt"],
  reviewer_not_assigned: [403, "The interrupt is assigned to other people"],
  reviewer_excluded: [403, "Another person must answer this interrupt"],
  review_rules_invalid: [409, "The review rules of the interrupt are malformed"],
  approvals_pending: [409, "The vote is counted, and more are needed"],
  too_many_votes: [409, "The vote limit is reached"],
  sibling_refused: [409, "Another answer for the same thread was rejected"],
  answer_ambiguous: [409, "Several interrupts are pending: name the one to answer"],
  interrupt_moved: [409, "The node asks another question than the one that was answered"],
  nothing_to_continue: [409, "The thread has nothing to continue"],
  graph_incompatible: [409, "The deployed graph cannot continue this paused thread"],
  thread_without_graph: [409, "The thread has no graph yet"],
  run_active: [409, "The run is still active"],
  search_off: [409, "The server has no search index"],
  request_ended: [409, "The request has ended"],
  request_fixed: [409, "A request takes an answer or a cancellation only"],
  request_key_reused: [409, "This Idempotency-Key asked another question"],
  body_too_large: [413, "The body is too large"],
  member_too_large: [413, "A member of the request is too large"],
  answer_too_large: [413, "The answer is too large"],
  unsupported_media_type: [415, "The body must be application/json"],
  invalid_request: [422, "The request does not match the schema"],
  body_too_deep: [422, "The body is nested too deeply"],
  body_too_wide: [422, "An object of the body has too many members"],
  interrupt_unknown: [422, "The thread has no such interrupt"],
  answer_delayed: [422, "An answer cannot be delayed"],
  policy_invalid: [422, "The policy cannot be stored"],
  answer_invalid: [422, "The answer does not match the response schema"],
  context_invalid: [422, "The context does not match the context schema"],
  control_value_refused: [422, "The graph library would execute a value instead of storing it"],
  webhook_refused: [422, "The webhook address is not allowed"],
  node_unknown: [422, "The graph has no such node"],
  state_update_invalid: [422, "The graph rejected the state update"],
  idempotency_run_deleted: [409, "The run of this Idempotency-Key is deleted"],
  idempotency_key_reused: [422, "This Idempotency-Key was used with another request"],
  cron_schedule_invalid: [422, "The cron schedule is malformed or never due"],
  store_namespace_invalid: [422, "The namespace is malformed"],
  store_item_invalid: [422, "The item cannot be stored"],
  store_item_too_large: [422, "The item is too large"],
  store_filter_invalid: [422, "The filter is malformed"],
  store_search_too_broad: [422, "The search would scan too many items"],
  upgrade_required: [426, "The route requires a WebSocket"],
  limit_reached: [429, "A limit of the caller is reached"],
  too_many_streams: [429, "The stream limit is reached"],
  too_many_tickets: [429, "The ticket limit is reached"],
  internal_error: [500, "Internal server error"],
  graph_not_made: [500, "The graph factory function failed"],
  sealed_value_unreadable: [500, "A sealed value does not open"],
  embedding_failed: [502, "The embedding function failed"],
  storage_unavailable: [503, "The storage is unavailable"],
  read_too_slow: [503, "The read takes too long"],
  worker_not_listed: [503, "The worker lost its lease"],
  commit_unknown: [503, "The outcome of the commit is unknown"],
  overloaded: [503, "The server is full"],
  page_unavailable: [503, "The page is not built"],
  shutting_down: [503, "The server is shutting down"],
} as const satisfies Record<string, readonly [status: number, title: string]>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** Expected refusal: the edge turns it into an RFC 9457 problem and adds the `extra` members to it. */
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

/** A refusal by user code, with a status of its choice. */
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

/** Anything thrown → `{name, message}`. Never throws. */
export function describeError(thrown: unknown): { readonly name: string; readonly message: string } {
  if (thrown instanceof Error) return { name: thrown.name || "Error", message: thrown.message };
  return { name: "Error", message: typeof thrown === "string" ? thrown : safeText(thrown) };
}

function safeText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return "thrown value cannot be displayed";
  }
}
