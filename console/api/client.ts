// Client: calls of the HTTP API, which is all that the console knows of the server.
import { API_URL } from "../browser/address.ts";
import { apiKey, keyWanted } from "./credentials.ts";
import { problemFrom, unreachable } from "./problem.ts";

export interface CallOptions {
  /** Members that are undefined, null or empty are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | null | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** The call goes out even if the page is left right after it. */
  readonly keepalive?: boolean;
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export function urlOf(path: string, query: CallOptions["query"] = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") search.set(name, String(value));
  }
  const text = search.toString();
  return `${API_URL}${path}${text === "" ? "" : `?${text}`}`;
}

/** @throws {ApiProblem} for every reply that is not 2xx, and when none comes. */
export async function request(method: Method, path: string, options: CallOptions = {}): Promise<Response> {
  const { query, body, headers, signal, keepalive = false } = options;
  const key = apiKey.get();
  let response: Response;
  try {
    response = await fetch(urlOf(path, query), {
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
  if (response.status === 401) keyWanted.set(true);
  throw problemFrom(await response.json().catch(() => null), response.status);
}

/** @throws {ApiProblem} */
export async function call<Reply>(method: Method, path: string, options: CallOptions = {}): Promise<Reply> {
  const response = await request(method, path, options);
  return (response.status === 204 ? null : await response.json()) as Reply;
}
