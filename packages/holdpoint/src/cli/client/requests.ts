// Client of /requests: puts a question to people, and waits for its end. No dependency but fetch: any runtime has it.
// Rules:
//   - Every call may be repeated: the key makes a repeated question the same one, and reading changes nothing. Lost
//     connections, 5xx and 429 are repeated; other refusals are errors.
//   - Before the question is open, a server that does not answer within OPEN_PATIENCE_MS is an error: most likely the
//     address is wrong. An open question is waited for as long as it is open, or until `signal`.

export interface Connection {
  /** Address of the server, with its prefix. */
  readonly url: string;
  readonly apiKey?: string | undefined;
  /** Stops the wait. The question stays open: the same key continues it. */
  readonly signal?: AbortSignal | undefined;
  /** Told of each repeated call, with the reason. */
  readonly onRetry?: ((reason: string) => void) | undefined;
}

/** The body of POST /requests. */
export interface NewRequest {
  readonly payload: unknown;
  readonly [member: string]: unknown;
}

/** A question, as the server shows it. */
export interface PersonRequest {
  readonly request_id: string;
  readonly status: "open" | "answered" | "expired" | "cancelled";
  /** Where a person answers it. */
  readonly url: string;
  readonly payload: unknown;
  readonly answer?: unknown;
  readonly answered_by?: string | null;
  readonly [member: string]: unknown;
}

/** The server refused a call: a question that is not valid, a key without the right to ask. */
export class RequestRefusedError extends Error {
  readonly status: number;
  /** A code of docs/reference/errors.md; null if the reply is not of such a server. */
  readonly code: string | null;
  constructor(status: number, code: string | null, message: string) {
    super(message);
    this.name = "RequestRefusedError";
    this.status = status;
    this.code = code;
  }
}

const OPEN_PATIENCE_MS = 30_000;
/** Proxies close calls that are silent for a minute. */
const WAIT_SECONDS = 25;
const CALL_MS = (WAIT_SECONDS + 20) * 1000;
const BACKOFF_MS = { first: 250, most: 10_000 };
const RETRY_AFTER_MOST_S = 60;

/** Opens a question, or finds the one that this key has opened. @throws {RequestRefusedError} */
export function openRequest(connection: Connection, body: NewRequest, key: string): Promise<PersonRequest> {
  const headers = { "content-type": "application/json", "idempotency-key": key };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  return callServer(connection, "/requests", init, OPEN_PATIENCE_MS);
}

/** Waits until somebody answers, the deadline passes, or somebody cancels. @throws {RequestRefusedError} */
export async function waitForEnd(connection: Connection, { request_id: id }: PersonRequest): Promise<PersonRequest> {
  const path = `/requests/${encodeURIComponent(id)}?wait=${WAIT_SECONDS}`;
  for (;;) {
    const begun = Date.now();
    const request = await callServer(connection, path, {}, Infinity);
    if (request.status !== "open") return request;
    if (Date.now() - begun < 1000) await pause(1000, connection.signal); // a server that stops does not wait
  }
}

/** @param patienceMs of calls without a usable reply */
async function callServer(
  connection: Connection,
  path: string,
  init: Init,
  patienceMs: number,
): Promise<PersonRequest> {
  const begun = Date.now();
  for (let attempt = 0; ; attempt++) {
    const outcome = await callOnce(connection, path, init);
    if ("request" in outcome) return outcome.request;
    if (Date.now() - begun > patienceMs) throw outcome.error;
    connection.onRetry?.(outcome.error.message);
    const backoffMs = Math.min(BACKOFF_MS.first * 2 ** attempt, BACKOFF_MS.most);
    await pause(outcome.afterMs ?? backoffMs * (0.5 + Math.random() / 2), connection.signal);
  }
}

interface Init {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

type Outcome = { readonly request: PersonRequest } | { readonly error: Error; readonly afterMs: number | null };

/** @returns an error that a repeated call may end @throws {RequestRefusedError} */
async function callOnce({ url, apiKey, signal }: Connection, path: string, init: Init): Promise<Outcome> {
  const limit = AbortSignal.timeout(CALL_MS);
  const signals = signal === undefined ? limit : AbortSignal.any([signal, limit]);
  const headers = { ...init.headers, ...(apiKey === undefined ? {} : { "x-api-key": apiKey }) };
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${url.replace(/\/+$/, "")}${path}`, {
      ...init,
      headers,
      redirect: "manual",
      signal: signals,
    });
    text = await response.text();
  } catch (error) {
    signal?.throwIfAborted();
    return { error: new Error(`no server responds at ${url}`, { cause: error }), afterMs: null };
  }
  const body = readObject(text);
  if (response.ok && typeof body["request_id"] === "string") return { request: body as unknown as PersonRequest };
  const status = typeof body["status"] === "number" ? body["status"] : response.status;
  const detail = body["detail"] ?? body["title"];
  const reason = typeof detail === "string" ? detail : `${url} is not a Holdpoint server`;
  const code = typeof body["code"] === "string" ? body["code"] : null;
  const error = new RequestRefusedError(status, code, `${reason} (${code ?? status})`);
  if (status < 500 && status !== 429 && text.trim() !== "") throw error;
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return { error, afterMs: seconds > 0 ? Math.min(seconds, RETRY_AFTER_MOST_S) * 1000 : null };
}

function readObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      if (signal?.aborted === true) reject(signal.reason as Error);
      else resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
    if (signal?.aborted === true) end();
  });
}
