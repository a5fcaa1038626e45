// Own API: requests of a gateway to this server's API, in the name of the gateway's caller.
// Invariants:
//   - Every request carries the credentials of the caller, and passes the same checks as one from outside.
//   - The audit trail records the caller's address and the gateway as the channel.
import { createParser } from "eventsource-parser";
import type { Clock } from "@holdpoint/base/clock.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { HttpRequest } from "@holdpoint/base/http/server/app.ts";
import type { Loopback, LoopbackOrigin } from "@holdpoint/base/http/server/loopback-client.ts";

export interface OwnApi {
  /** @throws {ApiRefusal} */
  readonly call: (method: "GET" | "POST" | "DELETE", path: string, call?: ApiCall) => Promise<Json>;
  /** Server-sent events of a path, until the stream ends. @throws {ApiRefusal} */
  readonly events: (path: string, signal: AbortSignal) => AsyncGenerator<ApiEvent>;
  readonly clock: Pick<Clock, "after">;
}

export interface ApiCall {
  readonly body?: Json;
  readonly idempotencyKey?: string | null;
  readonly signal?: AbortSignal;
}

export interface ApiEvent {
  readonly event: string;
  readonly data: string;
}

/** A reply with status 400 or above. */
export class ApiRefusal extends Error {
  readonly status: number;
  /** Code of docs/reference/errors.md, for example `interrupt_stale`. */
  readonly code: string;
  constructor(status: number, code: string, detail: string) {
    super(detail);
    this.name = "ApiRefusal";
    this.status = status;
    this.code = code;
  }
}

/** Headers of the outer request that describe its body, its connection or its page. */
const NOT_PASSED =
  /^(accept|accept-encoding|connection|content-.*|expect|host|idempotency-key|keep-alive|last-event-id|mcp-.*|a2a-.*|origin|referer|sec-.*|te|trailer|transfer-encoding|upgrade)$/;

export function createOwnApi(
  loopback: Loopback,
  { headers, remoteAddress }: Pick<HttpRequest, "headers" | "remoteAddress">,
  gateway: { readonly via: LoopbackOrigin["via"]; readonly prefix: string; readonly clock: Pick<Clock, "after"> },
): OwnApi {
  const passed = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    NOT_PASSED.test(name) || value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]],
  );
  const origin = { remoteAddress, via: gateway.via };
  const send = (
    path: string,
    init: Omit<RequestInit, "headers"> & { readonly headers: Record<string, string> },
  ): Promise<Response> =>
    loopback(
      `${gateway.prefix}${path}`,
      { ...init, headers: { ...Object.fromEntries(passed), ...init.headers } },
      origin,
    );
  return {
    clock: gateway.clock,
    async call(method, path, { body, idempotencyKey, signal } = {}) {
      const response = await send(path, {
        method,
        headers: {
          accept: "application/json",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...(idempotencyKey === null || idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal }),
      });
      const text = await response.text();
      if (response.status >= 400) throw toApiRefusal(response.status, text);
      return text === "" ? null : (JSON.parse(text) as Json);
    },
    async *events(path, signal) {
      const response = await send(path, { method: "GET", headers: { accept: "text/event-stream" }, signal });
      if (response.status >= 400) throw toApiRefusal(response.status, await response.text());
      if (response.body !== null) yield* readEvents(response.body);
    },
  };
}

async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ApiEvent> {
  const arrived: ApiEvent[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => void arrived.push({ event: event ?? "message", data }),
  });
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* arrived.splice(0);
  }
}

function toApiRefusal(status: number, text: string): ApiRefusal {
  const problem = problemIn(text);
  const [code, detail] = [problem["code"], problem["detail"]];
  return new ApiRefusal(
    status,
    typeof code === "string" ? code : "internal",
    typeof detail === "string" ? detail : `The server replied ${status}.`,
  );
}

function problemIn(text: string): JsonObject {
  try {
    const value = JSON.parse(text) as Json;
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
