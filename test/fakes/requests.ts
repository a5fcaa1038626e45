// A server of /requests that loses connections and refuses on demand: what a real one does by chance only.
// Rules: docs/reference/requests.md, in the part that clients see. A call that breaks them is a violation.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

interface Kept {
  readonly key: string | null;
  readonly body: Readonly<Record<string, unknown>>;
  request: Readonly<Record<string, unknown>> & { readonly request_id: string; readonly status: string };
}

/** The next call: closed before it is read; done, but its reply lost; its reply cut in the middle; refused so. */
export type Fault = "closed" | "lost" | "cut" | { readonly status: number; readonly retryAfter?: number };

export interface FakeRequests {
  readonly url: string;
  readonly kept: readonly Kept[];
  readonly violations: readonly string[];
  /** Method and path of each call. */
  readonly calls: readonly string[];
  /** Keys of callers. */
  readonly apiKeys: readonly (string | undefined)[];
  readonly fail: (...faults: readonly Fault[]) => void;
  /** Resolves when so many questions are open. */
  readonly opened: (count: number) => Promise<void>;
  readonly end: (index: number, end: Readonly<Record<string, unknown>>) => void;
  readonly close: () => void;
}

const MEMBERS =
  /^(payload|response_schema|title|review|deadline|on_deadline|priority|assignees|metadata|notify|webhook)$/;

export async function startFakeRequests(): Promise<FakeRequests> {
  const faults: Fault[] = [];
  const kept: Kept[] = [];
  const calls: string[] = [];
  const apiKeys: (string | undefined)[] = [];
  const violations: string[] = [];
  const changed = new EventTarget();
  const change = (): boolean => changed.dispatchEvent(new Event("change"));

  const refuse = (response: ServerResponse, status: number, code: string): void =>
    void response
      .writeHead(status, { "content-type": "application/problem+json" })
      .end(JSON.stringify({ status, code, detail: `refused: ${code}` }));

  async function open(incoming: IncomingMessage): Promise<readonly [status: number, body: object]> {
    const body = (await json(incoming)) as Kept["body"];
    const key = String(incoming.headers["idempotency-key"] ?? "");
    if (key.length < 1 || key.length > 255) violations.push(`key ${key}`);
    for (const member of Object.keys(body)) if (!MEMBERS.test(member)) violations.push(`member ${member}`);
    if (!("payload" in body)) return [422, { status: 422, code: "invalid_request", detail: "payload is missing" }];
    const same = kept.find((one) => one.key === key);
    if (same !== undefined && JSON.stringify(same.body) !== JSON.stringify(body))
      return [409, { status: 409, code: "request_key_reused", detail: "the key was used with another body" }];
    if (same !== undefined) return [200, same.request];
    const request = {
      request_id: randomUUID(),
      status: "open",
      url: "http://inbox.example/1",
      payload: body["payload"],
    };
    kept.push({ key, body, request });
    change();
    return [201, request];
  }

  async function find(url: URL): Promise<readonly [status: number, body: object]> {
    const one = kept.find(({ request }) => url.pathname === `/requests/${request.request_id}`);
    if (one === undefined) return [404, { status: 404, code: "request_not_found", detail: "no such request" }];
    const wait = Number(url.searchParams.get("wait"));
    if (!(wait >= 1 && wait <= 300)) violations.push(`wait ${wait}`);
    while (one.request.status === "open") await once(changed, "change");
    return [200, one.request];
  }

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url: path = "" } = incoming;
    calls.push(`${method} ${path}`);
    apiKeys.push(incoming.headers["x-api-key"] as string | undefined);
    const fault = faults.shift();
    if (fault === "closed") return void incoming.socket.destroy();
    if (fault === "cut") {
      response.writeHead(200, { "content-type": "application/json" }).write("\n");
      return void setImmediate(() => incoming.socket.destroy());
    }
    if (typeof fault === "object") {
      if (fault.retryAfter !== undefined) response.setHeader("retry-after", String(fault.retryAfter));
      return refuse(response, fault.status, "overloaded");
    }
    const [status, body] = method === "POST" ? await open(incoming) : await find(new URL(path, "http://x"));
    if (fault === "lost") incoming.socket.destroy();
    else response.writeHead(status, { "content-type": "application/json" }).end(`\n\n${JSON.stringify(body)}`);
  }

  const server = createServer((incoming, response) => void serve(incoming, response));
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    kept,
    violations,
    calls,
    apiKeys,
    fail: (...more) => void faults.push(...more),
    opened: async (count) => {
      while (kept.length < count) await once(changed, "change");
    },
    end(index, end) {
      const one = kept[index];
      if (one === undefined) throw new Error(`no question ${index}`);
      one.request = { ...one.request, ...end };
      change();
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
