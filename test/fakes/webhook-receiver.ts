// A webhook receiver for tests: scripted replies, and a record of the requests.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedWebhook {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly event: {
    readonly run_id: string;
    readonly thread_id: string;
    readonly status: string;
    readonly ended_by: string;
    readonly values: unknown;
    readonly interrupts: readonly { readonly id: string; readonly value: unknown }[];
    readonly pause: string | null;
    readonly error?: { readonly error: string; readonly message: string };
    readonly [member: string]: unknown;
  };
}

type AnswerWebhook = (response: ServerResponse, nth: number) => void;

export interface WebhookReceiver {
  readonly url: string;
  readonly port: number;
  readonly received: readonly ReceivedWebhook[];
  /** Resolves when this many have come to a path, with all of them. */
  came(path: string, count?: number): Promise<readonly ReceivedWebhook[]>;
  close(): Promise<void>;
}

/** @param answers the reply at each path; 200 at all others. */
export async function startWebhookReceiver(
  answers: Readonly<Record<string, AnswerWebhook>> = {},
): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  const waiting = new Set<() => void>();
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString();
      const path = request.url ?? "";
      const nth = received.push({
        path,
        headers: request.headers,
        text,
        event: JSON.parse(text) as ReceivedWebhook["event"],
      });
      const answer = answers[path];
      if (answer === undefined) response.end("thank you");
      else answer(response, received.filter((one) => one.path === path).length);
      for (const look of waiting) look();
      return nth;
    })();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const own = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${own}`,
    port: own,
    received,
    came(path, count = 1) {
      const here = (): readonly ReceivedWebhook[] => received.filter((one) => one.path === path);
      return new Promise((resolve) => {
        const look = (): void => {
          if (here().length < count) return;
          waiting.delete(look);
          resolve(here());
        };
        waiting.add(look);
        look();
      });
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
