import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { type Clock, systemClock } from "@holdpoint/base/clock.ts";
import type { Body } from "../../encode/batch-body.ts";
import { createHttpBackend } from "./http.ts";
import type { Backend } from "./port.ts";

const BODY_BYTES = 32 * 1024 * 1024; // more than the sockets' buffers take

const body: Body = {
  tenant: { id: "t", apiKey: "key-1", tenantId: "" },
  createdMs: 0,
  boundary: "b",
  encoding: "identity",
  bytes: Buffer.allocUnsafeSlow(BODY_BYTES).fill(1),
  rawBytes: BODY_BYTES,
  offsets: [0],
  first: 0,
};

function connectBackend(port: number, clock: Clock = systemClock): Backend {
  return createHttpBackend(
    {
      endpoint: `http://127.0.0.1:${port}`,
      timeoutMs: 20_000,
      connectionsMax: 1,
      userAgent: "test",
      httpsProxy: null,
      noProxy: null,
    },
    clock,
  );
}

test("backend/http.5 a reply before the end of the body closes the connection: nothing reads the body after `sent`", async (t) => {
  const peers: Socket[] = [];
  let bytes = 0;
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (chunk) => {
      bytes += chunk.length;
      socket.pause().write("HTTP/1.1 202 Accepted\r\ncontent-length: 2\r\n\r\n{}");
    });
    peers.push(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const backend = connectBackend(port);
  t.after(() => {
    backend.close();
    for (const peer of peers) peer.destroy();
    server.close();
  });
  assert.deepEqual(await backend.send(body, new AbortController().signal), { kind: "sent" });
  const [peer] = peers;
  assert.ok(peer !== undefined);
  const closed = once(peer, "close");
  peer.on("data", (chunk) => (bytes += chunk.length)).resume();
  await closed;
  assert.ok(bytes < BODY_BYTES);
});

interface Asked {
  readonly requests: string[];
  readonly backend: Backend;
}

/** A backend that answers from a script, by path. */
async function answering(
  t: TestContext,
  answer: (path: string) => {
    readonly status: number;
    readonly headers?: Record<string, string>;
    readonly text?: string;
  },
  clock: Clock = systemClock,
): Promise<Asked> {
  const requests: string[] = [];
  const server = createHttpServer((incoming, reply) => {
    const path = incoming.url ?? "";
    requests.push(path);
    const { status, headers = {}, text = "{}" } = answer(path);
    incoming.resume().once("end", () => reply.writeHead(status, headers).end(text));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const backend = connectBackend((server.address() as AddressInfo).port, clock);
  t.after(() => {
    backend.close();
    server.closeAllConnections();
    server.close();
  });
  return { requests, backend };
}

const small: Body = { ...body, bytes: Buffer.from("--b--\r\n"), rawBytes: 0 };
const { signal } = new AbortController();

const MULTIPART = "/runs/multipart";
const OLDER = "/runs/batch";
const FIVE_MINUTES = 5 * 60_000;
const infoSaying = (flag: boolean | undefined): { status: number; text: string } => ({
  status: 200,
  text: JSON.stringify({ batch_ingest_config: { use_multipart_endpoint: flag } }),
});

/** Retries until delivery, as an upload does; returns the paths of the uploads. */
async function countUploads({ requests, backend }: Asked, tries = 5): Promise<readonly string[]> {
  const before = requests.length;
  for (let attempt = 0; attempt < tries; attempt++) {
    const { kind } = await backend.send(small, signal);
    if (kind === "sent") break;
    assert.equal(kind, "retry");
  }
  return requests.slice(before).filter((path) => path !== "/info");
}

for (const [says, info] of [
  ["names the multipart form", infoSaying(true)],
  ["says nothing of it", infoSaying(undefined)],
  ["is not there", { status: 404 }],
  ["fails", { status: 500 }],
] as const)
  test(`backend/http.7 one stray 404 has no effect while /info ${says}`, async (t) => {
    let strays = 1;
    const asked = await answering(t, (path) => {
      if (path === "/info") return info;
      return { status: path === MULTIPART && strays-- > 0 ? 404 : 202 };
    });
    assert.deepEqual(await countUploads(asked), [MULTIPART, MULTIPART]);
    for (let later = 0; later < 3; later++) {
      strays = later === 1 ? 1 : 0; // another one, after a success
      assert.equal((await countUploads(asked)).at(-1), MULTIPART);
    }
  });

test("backend/http.7 concurrent uploads count as one: a burst of 404s has no effect", async (t) => {
  let strays = 8;
  const asked = await answering(t, (path) => {
    if (path === "/info") return { status: 404 };
    return { status: path === MULTIPART && strays-- > 0 ? 404 : 202 };
  });
  await Promise.all(Array.from({ length: 8 }, () => asked.backend.send(small, signal)));
  assert.deepEqual(await countUploads(asked), [MULTIPART]);
});

test("backend/http.7 after two 404s in a row, uses the older form for five minutes, then tries the newer one again", async (t) => {
  let now = 0;
  let isThere = false;
  const asked = await answering(
    t,
    (path) => ({ status: path === OLDER || (path === MULTIPART && isThere) ? 202 : 404 }),
    { ...systemClock, monotonic: () => now },
  );
  assert.deepEqual(await countUploads(asked), [MULTIPART, MULTIPART, OLDER]);
  now += FIVE_MINUTES - 1;
  assert.deepEqual(await countUploads(asked), [OLDER]);
  now += 1;
  isThere = true;
  assert.deepEqual(await countUploads(asked), [MULTIPART]);
});

test("backend/http.7 a backend that advertises the form but lacks it gets no older one: the runs stay", async (t) => {
  const asked = await answering(t, (path) => (path === "/info" ? infoSaying(true) : { status: 404 }));
  assert.deepEqual(await countUploads(asked, 4), [MULTIPART, MULTIPART, MULTIPART, MULTIPART]);
});

test("backend/http.7 never sends attachments without their form, nor counts them as delivered", async (t) => {
  const asked = await answering(t, (path) =>
    path === "/info" ? infoSaying(false) : { status: path === OLDER ? 202 : 404 },
  );
  const part = `--b\r\nContent-Disposition: form-data; name="attachment.id.a"\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n\r\nx\r\n`;
  const bytes = Buffer.from(`${part}--b--\r\n`);
  const withOne: Body = { ...small, bytes, rawBytes: part.length };
  assert.deepEqual(await countUploads(asked), [MULTIPART, OLDER]);
  const outcome = await asked.backend.send(withOne, signal);
  assert.deepEqual([outcome.kind, asked.requests.filter((path) => path === OLDER).length], ["refused", 1]);
});

test("a backend whose /info has no multipart form never gets it", async (t) => {
  let replied = (): void => undefined;
  const infoRead = new Promise<void>((resolve) => (replied = resolve));
  const { requests, backend } = await answering(t, (path) => {
    if (path !== "/info") return { status: 202 };
    setImmediate(replied);
    return { status: 200, text: '{"batch_ingest_config":{"use_multipart_endpoint":false,"size_limit":7}}' };
  });
  backend.limits();
  await infoRead;
  while (backend.limits().runsMax !== 7) await new Promise((resolve) => setImmediate(resolve));
  await backend.send(small, signal);
  assert.deepEqual(requests, ["/info", "/runs/batch"]);
});

for (const skewMs of [-86_400_000, 0, 86_400_000])
  test(`backend/http.6 a Retry-After date has the same effect with a wall clock ${skewMs / 3_600_000} hours off`, async (t) => {
    const at = Date.UTC(2026, 10, 21);
    const { backend } = await answering(
      t,
      () => ({
        status: 503,
        headers: { date: new Date(at).toUTCString(), "retry-after": new Date(at + 5000).toUTCString() },
      }),
      { ...systemClock, now: () => at + skewMs },
    );
    assert.deepEqual(await backend.send(small, signal), { kind: "retry", reason: "503 {}", afterMs: 5000 });
  });
