// Tests of one POST to an untrusted address, over real sockets (guarded-post.1 to guarded-post.4).
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { systemClock } from "../../clock.ts";
import { guardedPost, resolveHost, type PostOutcome, type Resolve } from "./guarded-post.ts";
import type { OutboundRules } from "./outbound-url.ts";
import { PATIENCE } from "../../../../../test/harness/patience.ts";

const LIMITS = { timeoutMs: 10_000, replyBytesMax: 1024 };
const servers: Server[] = [];
after(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

interface Peer {
  readonly port: number;
  readonly requests: { readonly request: IncomingMessage; readonly body: string }[];
}

async function peer(answer: RequestListener): Promise<Peer> {
  const requests: { readonly request: IncomingMessage; readonly body: string }[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      let body = "";
      for await (const chunk of request) body += String(chunk);
      requests.push({ request, body });
      answer(request, response);
    })();
  }).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, requests };
}

const ok: RequestListener = (_, response) => void response.end("thank you");
const OPEN: OutboundRules = {
  requireHttps: false,
  domains: null,
  ports: null,
  urlUnitsMax: 2048,
  networks: ["127.0.0.1"],
};

function post(
  url: string,
  options: { readonly rules?: OutboundRules; readonly resolve?: Resolve; readonly timeoutMs?: number } = {},
): Promise<PostOutcome> {
  const { rules = OPEN, resolve = resolveHost, timeoutMs = LIMITS.timeoutMs } = options;
  const request = { url, headers: { "content-type": "application/json", "x-own": "1" }, body: '{"ä":1}' };
  const ports = { resolve, clock: systemClock };
  const { signal } = new AbortController();
  return guardedPost(request, rules, { ...LIMITS, timeoutMs, signal }, ports);
}

test("the body and the headers arrive, and the status comes back", PATIENCE, async () => {
  const { port, requests } = await peer(ok);
  assert.deepEqual(await post(`http://127.0.0.1:${port}/hook?a=b`), { kind: "replied", status: 200 });
  const [{ request, body }] = requests as [Peer["requests"][number]];
  assert.equal(body, '{"ä":1}');
  assert.equal(request.url, "/hook?a=b");
  assert.deepEqual([request.headers["x-own"], request.headers["content-length"]], ["1", "8"]);
});

test("a name is resolved once, and the connection uses that address (guarded-post.1)", PATIENCE, async () => {
  const { port, requests } = await peer(ok);
  let asked = 0;
  const resolve: Resolve = async () => (++asked === 1 ? ["127.0.0.1"] : ["127.0.0.2"]);
  assert.deepEqual(await post(`http://hooks.test:${port}/`, { resolve }), { kind: "replied", status: 200 });
  assert.equal(asked, 1);
  assert.equal(requests[0]?.request.headers.host, `hooks.test:${port}`);
});

test("a name with an internal address is rejected, even among public ones (guarded-post.2)", PATIENCE, async () => {
  const { port, requests } = await peer(ok);
  const rules = { ...OPEN, networks: [] };
  for (const addresses of [["127.0.0.1"], ["1.1.1.1", "127.0.0.1"], ["::ffff:127.0.0.1"], ["169.254.169.254"]]) {
    const outcome = await post(`http://hooks.test:${port}/`, { rules, resolve: async () => addresses });
    assert.equal(outcome.kind, "refused");
  }
  assert.equal((await post(`http://127.0.0.1:${port}/`, { rules })).kind, "refused");
  assert.equal((await post(`http://localhost:${port}/`, { rules })).kind, "refused");
  assert.equal(requests.length, 0, "nothing was connected to");
});

test("a redirect is not followed (guarded-post.3)", PATIENCE, async () => {
  const canary = await peer(ok);
  const { port } = await peer((_, response) => {
    response.writeHead(307, { location: `http://127.0.0.1:${canary.port}/` }).end();
  });
  assert.deepEqual(await post(`http://127.0.0.1:${port}/`), { kind: "replied", status: 307 });
  assert.equal(canary.requests.length, 0);
});

test("an endless reply is cut off, and its status counts (guarded-post.4)", PATIENCE, async () => {
  const closed = Promise.withResolvers<void>();
  const { port } = await peer((_, response) => {
    response.once("close", closed.resolve);
    response.writeHead(202);
    const more = (): void => {
      while (!response.destroyed && response.write("x".repeat(1000)));
      response.once("drain", more);
    };
    more();
  });
  assert.deepEqual(await post(`http://127.0.0.1:${port}/`), { kind: "replied", status: 202 });
  await closed.promise;
});

test("a silent peer times out, and so does a silent name server (guarded-post.4)", PATIENCE, async () => {
  const { port } = await peer(() => undefined);
  const late = { kind: "failed", reason: "no reply within 50 ms" };
  assert.deepEqual(await post(`http://127.0.0.1:${port}/`, { timeoutMs: 50 }), late);
  const never: Resolve = () => new Promise(() => undefined);
  assert.deepEqual(await post("http://hooks.test/", { timeoutMs: 50, resolve: never }), late);
});

test("an unreachable address is a failure with its reason", PATIENCE, async () => {
  const { port } = await peer((_, response) => void response.destroy());
  assert.deepEqual(await post(`http://127.0.0.1:${port}/`), { kind: "failed", reason: "ECONNRESET" });
  const nobody = createServer().listen(0, "127.0.0.1");
  await once(nobody, "listening");
  const free = (nobody.address() as AddressInfo).port;
  nobody.close();
  await once(nobody, "close");
  assert.deepEqual(await post(`http://127.0.0.1:${free}/`), { kind: "failed", reason: "ECONNREFUSED" });
  const unknown: Resolve = () => Promise.reject(Object.assign(new Error("no such name"), { code: "ENOTFOUND" }));
  assert.deepEqual(await post("http://hooks.test/", { resolve: unknown }), { kind: "failed", reason: "ENOTFOUND" });
  assert.equal((await post("http://hooks.test/", { resolve: async () => [] })).kind, "failed");
});
