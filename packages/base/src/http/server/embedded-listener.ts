// Embedded listener: a request listener as a service, for a host program that owns the connections.
// Invariants:
//   embedded-listener.1. After stop() has begun, every request is refused with 503 `shutting_down`.
//   embedded-listener.2. stop() lets replies in progress end until `drainMs`, then destroys them. A reply is in
//        progress until its last byte has left.
//   embedded-listener.3. Every reply forbids content-type sniffing, as on a port (server.4).
import type { RequestListener, ServerResponse } from "node:http";
import { ApiError } from "../../api-error.ts";
import type { Service } from "../../lifecycle.ts";
import type { Log } from "../../log/log.ts";
import { toProblem } from "./problem.ts";

export interface EmbeddedListener extends Service {
  readonly listener: RequestListener;
}

export function createEmbeddedListener(options: {
  readonly name: string;
  readonly listener: RequestListener;
  readonly log: Log;
  readonly drainMs: () => number;
  readonly stopMs: number;
}): EmbeddedListener {
  const replies = new Set<ServerResponse>();
  let onEmpty: (() => void) | null = null;
  return {
    name: options.name,
    stopMs: options.stopMs,
    start: () => Promise.resolve(),
    stop: () =>
      new Promise((resolve) => {
        const cut = setTimeout(() => {
          for (const reply of replies) reply.destroy(); // embedded-listener.2
        }, options.drainMs());
        onEmpty = () => {
          clearTimeout(cut);
          resolve();
        };
        if (replies.size === 0) onEmpty();
      }),
    listener(request, response) {
      response.setHeader("X-Content-Type-Options", "nosniff"); // embedded-listener.3
      if (onEmpty !== null) {
        const refusal = new ApiError("shutting_down", "Holdpoint is closed in this process.");
        const { status, text, headers } = toProblem(refusal, options.log);
        response.writeHead(status, headers).end(text); // embedded-listener.1
        return;
      }
      replies.add(response);
      response.once("close", () => {
        replies.delete(response);
        if (replies.size === 0) onEmpty?.();
      });
      options.listener(request, response);
    },
  };
}
