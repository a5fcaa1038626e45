// Embedded listener: a request listener as a service, for a host program that owns the connections.
// Invariants:
//   - After stop() has begun, every request is refused with 503 `shutting_down`.
//   - stop() lets replies in progress end until `drainMs`, then destroys them. A reply is in progress until its last
//     byte has left.
//   - Every reply forbids content-type sniffing, as on a port.
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
          for (const reply of replies) reply.destroy();
        }, options.drainMs());
        onEmpty = () => {
          clearTimeout(cut);
          resolve();
        };
        if (replies.size === 0) onEmpty();
      }),
    listener(request, response) {
      response.setHeader("X-Content-Type-Options", "nosniff");
      if (onEmpty !== null) {
        const refusal = new ApiError("shutting_down", "Holdpoint is closed in this process.");
        const { status, text, headers } = toProblem(refusal, options.log);
        response.writeHead(status, headers).end(text);
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
