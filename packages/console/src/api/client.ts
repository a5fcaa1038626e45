// Client: calls of the HTTP API, the console's only interface to the server.
import { API_URL } from "../browser/address.ts";
import { apiKey, keyRequired, signInAt } from "./credentials.ts";
import { type ApiProblem, problemFrom, unreachable } from "./problem.ts";

export interface CallOptions {
  /** Omits members that are undefined, null or empty. */
  readonly query?: Readonly<Record<string, string | number | boolean | null | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Sends the call even if the user leaves the page right after. */
  readonly keepalive?: boolean;
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export function buildUrl(path: string, query: CallOptions["query"] = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") search.set(name, String(value));
  }
  const text = search.toString();
  return `${API_URL}${path}${text === "" ? "" : `?${text}`}`;
}

/** @throws {ApiProblem} for every non-2xx reply, and without a reply. */
export async function request(method: Method, path: string, options: CallOptions = {}): Promise<Response> {
  const { query, body, headers, signal, keepalive = false } = options;
  const key = apiKey.get();
  let response: Response;
  try {
    response = await fetch(buildUrl(path, query), {
      method,
      headers: {
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(key === null ? {} : { "x-api-key": key }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
      keepalive,
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw unreachable(error);
  }
  if (response.ok) return response;
  const problem = problemFrom(await response.json().catch(() => null), response.status);
  // A refusal of the key before may arrive after the user has entered another one.
  if (response.status === 401 && apiKey.get() === key) askToAuthenticate(problem, key !== null);
  throw problem;
}

/** A wrong key asks for another one; without a key, people sign in where the server offers that. */
function askToAuthenticate({ members }: ApiProblem, hasKey: boolean): void {
  const path = members["sign_in"];
  if (typeof path === "string" && !hasKey) signInAt.set(path);
  else keyRequired.set(true);
}

/** @throws {ApiProblem} */
export async function call<Reply>(method: Method, path: string, options: CallOptions = {}): Promise<Reply> {
  const response = await request(method, path, options);
  return (response.status === 204 ? null : await response.json()) as Reply;
}
