// Forwarding: received requests reach further OTLP receivers, after redaction, at least once; no destination delays another;
// restarts and kills lose nothing that was acknowledged.
import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { describe } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { ConfigError } from "@holdpoint/base/config/config.ts";
import { exportResponse } from "@holdpoint/collector/otlp/status.ts";
import { startBackend } from "../fakes/backend.ts";
import { startCollector, until } from "../fakes/collector.ts";
import { protobufLogs, buildRecord } from "../fakes/otlp-logs.ts";
import { field, jsonRequest, protobufAttributes, protobufRequest, buildSpan } from "../fakes/otlp.ts";
import { startCollectorProcess } from "../fakes/processes.ts";
import { testInLong, testInShort } from "../harness/long.ts";
import { PATIENCE } from "../harness/patience.ts";
import { createArrivals } from "../harness/arrivals.ts";

interface Taken {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** An OTLP receiver that keeps what it takes. */
async function startReceiver(
  status: (index: number, arrived: Taken) => number = () => 200,
  reply: Buffer = Buffer.alloc(0),
) {
  const { list: arrived, add, when } = createArrivals<Taken>();
  let requests = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const whole = Buffer.concat(chunks);
      const body = request.headers["content-encoding"] === "gzip" ? gunzipSync(whole) : whole;
      const one = { path: request.url ?? "", headers: request.headers, body };
      const code = status(requests++, one);
      if (code === 200) add(one);
      response.writeHead(code, { "content-type": "application/x-protobuf" }).end(reply);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/base/`,
    arrived,
    when,
    requests: () => requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The destination has taken all requests, and the collector has its replies. */
async function untilSent(url: string, destination: string): Promise<void> {
  const none = `forward_queue_requests{destination="${destination}"} 0`;
  await until(async () => (await (await fetch(`${url}/metrics`)).text()).includes(none));
}

async function withFolder(work: (dir: string, rules: (content: object) => Promise<string>) => Promise<void>) {
  const dir = await mkdtemp(`${tmpdir()}/holdpoint-forward-`);
  await work(dir, async (content) => {
    await writeFile(`${dir}/rules.json`, JSON.stringify(content));
    return `${dir}/rules.json`;
  });
  await rm(dir, { recursive: true });
}

const REDACT = [{ name: "email", detect: ["email"] }];
const MAIL = "alice@example.com";

function namesIn(arrived: readonly Taken[]): readonly string[] {
  return arrived.flatMap(({ body }) => body.toString("latin1").match(/span \d+\.0/g) ?? []);
}

describe("forwarding", PATIENCE, () => {
  for (const mode of ["memory", "durable"])
    testInShort(`in ${mode} mode sends all signals on, redacted, with the headers of the destination`, async () => {
      await withFolder(async (dir, rules) => {
        const [backend, receiver] = await Promise.all([startBackend(), startReceiver()]);
        const forward = [{ name: "one", endpoint: receiver.url, headers: { "x-plain": "yes" } }];
        const collector = await startCollector(backend.url, {
          ...(mode === "memory" ? {} : { SPOOL_DIR: `${dir}/spool` }),
          RULES_FILE: await rules({ redact: REDACT, forward }),
          FORWARD_HEADERS: "one.authorization=Basic%20c2VjcmV0",
        });
        const post = (path: string, body: Buffer, headers: Record<string, string> = {}): Promise<Response> =>
          fetch(collector.url + path, {
            method: "POST",
            body: body as Uint8Array<ArrayBuffer>,
            headers: { "x-api-key": "key-1", "content-type": "application/x-protobuf", ...headers },
          });
        const span = buildSpan(1, 0, undefined, { attributes: { "gen_ai.prompt": MAIL } });
        const metrics = field(
          1,
          field(2, field(2, Buffer.concat([field(1, "m"), field(5, field(1, protobufAttributes(7, { to: MAIL })))]))),
        );
        assert.equal((await post("/v1/traces", protobufRequest([span]))).status, 200);
        assert.equal(
          (
            await post("/v1/traces", gzipSync(jsonRequest([span])), {
              "content-type": "application/json",
              "content-encoding": "gzip",
            })
          ).status,
          200,
        );
        assert.equal(
          (await post("/v1/logs", protobufLogs([buildRecord(span, "app.log", { body: MAIL })]))).status,
          200,
        );
        assert.equal((await post("/v1/metrics", metrics)).status, 200);
        await receiver.when("all", ({ length }) => length === 4);
        await collector.stop();
        assert.deepEqual(
          receiver.arrived.map(({ path, headers }) => [
            path,
            headers["content-type"],
            headers.authorization,
            headers["x-plain"],
          ]),
          [
            ["/base/v1/traces", "application/x-protobuf", "Basic c2VjcmV0", "yes"],
            ["/base/v1/traces", "application/json", "Basic c2VjcmV0", "yes"],
            ["/base/v1/logs", "application/x-protobuf", "Basic c2VjcmV0", "yes"],
            ["/base/v1/metrics", "application/x-protobuf", "Basic c2VjcmV0", "yes"],
          ],
        );
        for (const { body, headers } of receiver.arrived) {
          assert.ok(body.includes("[email]") && !body.includes(MAIL));
          assert.equal(headers["x-api-key"], undefined);
        }
        assert.ok(!collector.log.join().includes("c2VjcmV0"));
        await Promise.all([backend.close(), receiver.close()]);
      });
    });

  testInShort("reaches another collector, which uploads the same runs", async () => {
    await withFolder(async (dir, rules) => {
      const [near, far] = await Promise.all([startBackend(), startBackend()]);
      const second = await startCollector(far.url, { TRACING_API_KEY: "far-key" });
      const first = await startCollector(near.url, {
        SPOOL_DIR: `${dir}/spool`,
        RULES_FILE: await rules({ forward: [{ name: "second", endpoint: second.url }] }),
      });
      for (let trace = 1; trace <= 20; trace++)
        await first.send(protobufRequest([buildSpan(trace, 0), buildSpan(trace, 1, 0)]));
      await Promise.all([near.whenRuns(40), far.whenRuns(40)]);
      await first.stop();
      await second.stop();
      assert.deepEqual(new Set(far.runs.map(({ id }) => id)), new Set(near.runs.map(({ id }) => id)));
      assert.deepEqual([...near.violations, ...far.violations], []);
      await Promise.all([near.close(), far.close()]);
    });
  });

  testInShort(
    "a destination that fails delays neither the other one nor the backend, and gets everything later",
    async () => {
      await withFolder(async (dir, rules) => {
        let isUp = false;
        const [backend, good, bad] = await Promise.all([
          startBackend(),
          startReceiver(),
          startReceiver(() => (isUp ? 200 : 503)),
        ]);
        const forward = [
          { name: "good", endpoint: good.url },
          { name: "bad", endpoint: bad.url },
        ];
        const env = {
          SPOOL_DIR: `${dir}/spool`,
          RULES_FILE: await rules({ forward }),
          MAX_RETRIES: "1",
          retryCooldownMs: "50",
        };
        const collector = await startCollector(backend.url, env);
        for (let trace = 1; trace <= 10; trace++) await collector.send(protobufRequest([buildSpan(trace, 0)]));
        await Promise.all([backend.whenRuns(10), good.when("all", (arrived) => namesIn(arrived).length === 10)]);
        await collector.whenLogged("forward_paused");
        assert.match(
          await (await fetch(`${collector.url}/metrics`)).text(),
          /forward_queue_requests\{destination="bad"\} 10/,
        );
        isUp = true;
        await bad.when("all", (arrived) => new Set(namesIn(arrived)).size === 10);
        await until(async () =>
          /forward_queue_requests\{destination="bad"\} 0/.test(await (await fetch(`${collector.url}/metrics`)).text()),
        );
        await collector.stop();
        assert.equal(namesIn(good.arrived).length, 10);
        await Promise.all([backend.close(), good.close(), bad.close()]);
      });
    },
  );

  testInShort("a destination that never replies delays neither the other one nor the backend", async () => {
    await withFolder(async (_dir, rules) => {
      const held = createArrivals<IncomingMessage>();
      const hanging = createServer(held.add);
      await new Promise<void>((resolve) => hanging.listen(0, "127.0.0.1", resolve));
      const { port } = hanging.address() as AddressInfo;
      const [backend, good] = await Promise.all([startBackend(), startReceiver()]);
      const forward = [
        { name: "hanging", endpoint: `http://127.0.0.1:${port}` },
        { name: "good", endpoint: good.url },
      ];
      const collector = await startCollector(backend.url, {
        RULES_FILE: await rules({ forward }),
        SHUTDOWN_TIMEOUT_MS: "2100",
      });
      await collector.send(protobufRequest([buildSpan(1, 0)]));
      await held.when("the request", ({ length }) => length === 1);
      for (let trace = 2; trace <= 5; trace++) await collector.send(protobufRequest([buildSpan(trace, 0)]));
      await Promise.all([backend.whenRuns(5), good.when("all", (arrived) => namesIn(arrived).length === 5)]);
      assert.equal(held.list.length, 1);
      hanging.closeAllConnections();
      hanging.close();
      await collector.stop();
      await Promise.all([backend.close(), good.close()]);
    });
  });

  testInShort(
    "what a destination has not taken survives a restart, and is not sent twice after a clean one",
    async () => {
      await withFolder(async (dir, rules) => {
        let isUp = false;
        const [backend, receiver] = await Promise.all([startBackend(), startReceiver(() => (isUp ? 200 : 503))]);
        const env = {
          SPOOL_DIR: `${dir}/spool`,
          RULES_FILE: await rules({ forward: [{ name: "a", endpoint: receiver.url }] }),
        };
        const first = await startCollector(backend.url, env);
        for (let trace = 1; trace <= 5; trace++) await first.send(protobufRequest([buildSpan(trace, 0)]));
        await first.stop();
        isUp = true;
        const second = await startCollector(backend.url, env);
        await receiver.when("all", (arrived) => namesIn(arrived).length === 5);
        await second.send(protobufRequest([buildSpan(6, 0)]));
        await receiver.when("all", (arrived) => namesIn(arrived).length === 6);
        await second.stop(); // waits for the reply in flight: without it, the request would be sent again
        const third = await startCollector(backend.url, env);
        await third.send(protobufRequest([buildSpan(7, 0)]));
        await receiver.when("all", (arrived) => namesIn(arrived).length === 7);
        await untilSent(third.url, "a");
        await third.stop();
        assert.deepEqual(
          namesIn(receiver.arrived),
          [1, 2, 3, 4, 5, 6, 7].map((trace) => `span ${trace}.0`),
        );
        assert.ok((await readdir(`${dir}/spool/forward`)).filter((name) => name.endsWith(".fwd")).length <= 1);
        await Promise.all([backend.close(), receiver.close()]);
      });
    },
  );

  testInShort("a refused request takes no other with it, and is counted", async () => {
    await withFolder(async (_dir, rules) => {
      const isBad = (body: Buffer): boolean => body.includes("span 3.0");
      const [backend, receiver] = await Promise.all([
        startBackend(),
        startReceiver((index, { body }) => (index === 0 ? 503 : isBad(body) ? 400 : 200)),
      ]);
      const collector = await startCollector(backend.url, {
        RULES_FILE: await rules({ forward: [{ name: "a", endpoint: receiver.url }] }),
        RETRY_BACKOFF_MS: "100",
      });
      for (let trace = 1; trace <= 5; trace++) await collector.send(protobufRequest([buildSpan(trace, 0)]));
      await receiver.when("all", (arrived) => namesIn(arrived).length === 4);
      await until(async () =>
        /forward_refused_requests_total\{destination="a"\} 1/.test(
          await (await fetch(`${collector.url}/metrics`)).text(),
        ),
      );
      await collector.stop();
      await Promise.all([backend.close(), receiver.close()]);
    });
  });

  testInShort("items that a destination rejects are counted and logged, and not sent again", async () => {
    await withFolder(async (_dir, rules) => {
      const secret = "secret-1234";
      const reply = exportResponse(3, `too old for ${secret}`, { format: "protobuf", signal: "traces" });
      const [backend, partial, chatty] = await Promise.all([
        startBackend(),
        startReceiver(undefined, reply),
        startReceiver(undefined, Buffer.alloc(1024 * 1024, "x")), // far above the limit of replies
      ]);
      const collector = await startCollector(backend.url, {
        RULES_FILE: await rules({
          forward: [
            { name: "partial", endpoint: partial.url, headers: { "x-secret": secret } },
            { name: "chatty", endpoint: chatty.url },
          ],
        }),
      });
      const metrics = async (): Promise<string> => await (await fetch(`${collector.url}/metrics`)).text();
      for (let trace = 1; trace <= 2; trace++) {
        await collector.send(protobufRequest([buildSpan(trace, 0)]));
        await until(async () => {
          const text = await metrics();
          return ["partial", "chatty"].every((name) =>
            text.includes(`forward_sent_requests_total{destination="${name}"} ${trace}\n`),
          );
        });
      }
      const text = await metrics();
      assert.match(text, /forward_rejected_items_total\{destination="partial"\} 6/);
      assert.match(text, /forward_rejected_items_total\{destination="chatty"\} 0/);
      assert.deepEqual([partial.requests(), chatty.requests()], [2, 2]);
      const line = collector.log.find((one) => one.includes("forward_partial_success")) ?? "";
      assert.ok(line.includes("too old for [secret]") && !line.includes(secret), line);
      await collector.stop();
      await Promise.all([backend.close(), partial.close(), chatty.close()]);
    });
  });

  testInShort("beyond the limit the oldest requests go, and count as lost for their destination only", async () => {
    await withFolder(async (dir, rules) => {
      const [backend, good, bad] = await Promise.all([startBackend(), startReceiver(), startReceiver(() => 503)]);
      const collector = await startCollector(backend.url, {
        SPOOL_DIR: `${dir}/spool`,
        forwardBytesMax: String(1024 * 1024),
        RULES_FILE: await rules({
          forward: [
            { name: "good", endpoint: good.url },
            { name: "bad", endpoint: bad.url },
          ],
        }),
      });
      const text = "x".repeat(200_000);
      for (let trace = 1; trace <= 10; trace++) {
        await collector.send(protobufRequest([buildSpan(trace, 0, undefined, { attributes: { text } })]));
        await good.when("all", (arrived) => namesIn(arrived).length === trace);
      }
      const metrics = await (await fetch(`${collector.url}/metrics`)).text();
      assert.match(metrics, /forward_lost_requests_total\{destination="good"\} 0/);
      assert.match(metrics, /forward_lost_requests_total\{destination="bad"\} 5/);
      await collector.stop();
      await Promise.all([backend.close(), good.close(), bad.close()]);
    });
  });

  testInLong("kill -9 at any moment loses no acknowledged request of any destination", async () => {
    await withFolder(async (dir, rules) => {
      const flaky = (index: number): number => (index % 3 === 0 ? 503 : 200);
      const [backend, one, other] = await Promise.all([startBackend(), startReceiver(flaky), startReceiver()]);
      const RULES_FILE = await rules({
        forward: [
          { name: "one", endpoint: one.url },
          { name: "other", endpoint: other.url },
        ],
      });
      const env = { TRACING_ENDPOINT: backend.url, SPOOL_DIR: `${dir}/spool`, RULES_FILE, RETRY_BACKOFF_MS: "5" };
      const acknowledged = new Set<string>();
      let isChecked = false;
      let next = 0;
      for (const kill of ["write after 12", "sync before 20", "outside", null]) {
        const collector = await startCollectorProcess({
          ...env,
          ...(kill === null || kill === "outside" ? {} : { KILL_AT: kill }),
        }).catch(() => null);
        if (collector === null) continue;
        for (let sent = 0; sent < 30; sent++) {
          const trace = next++;
          try {
            const headers = { "x-api-key": "key-1", "content-type": "application/x-protobuf" };
            const body = protobufRequest([buildSpan(trace, 0)]) as Uint8Array<ArrayBuffer>;
            const reply = await fetch(`${collector.url}/v1/traces`, { method: "POST", body, headers });
            if (reply.status === 200) acknowledged.add(`span ${trace}.0`);
          } catch {
            break; // killed
          }
        }
        if (kill === null) {
          const missing = (arrived: readonly Taken[]): number =>
            [...acknowledged].filter((name) => !namesIn(arrived).includes(name)).length;
          await until(() => missing(one.arrived) + missing(other.arrived) === 0);
          isChecked = true;
        }
        collector.child.kill("SIGKILL");
        await collector.ended;
      }
      assert.ok(isChecked);
      assert.ok(acknowledged.size >= 30);
      await Promise.all([backend.close(), one.close(), other.close()]);
    });
  });

  const FAULTS: readonly (readonly [what: string, forward: unknown, headers: string, reason: RegExp])[] = [
    ["an address that is none", [{ name: "a", endpoint: "nowhere" }], "", /forward\.0\.endpoint: is not an http/],
    ["a password in an address", [{ name: "a", endpoint: "http://u:p@h" }], "", /credentials go into FORWARD_HEADERS/],
    ["a secret for nobody", [{ name: "a", endpoint: "http://h" }], "b.x=y", /FORWARD_HEADERS: names the destination b/],
    ["a secret that is no header", [{ name: "a", endpoint: "http://h" }], "a.x=%0a", /FORWARD_HEADERS: is not a list/],
  ];
  for (const [what, forward, headers, reason] of FAULTS)
    testInShort(`does not start with ${what}`, async () => {
      await withFolder(async (_dir, rules) => {
        const env = { RULES_FILE: await rules({ forward }), ...(headers === "" ? {} : { FORWARD_HEADERS: headers }) };
        await assert.rejects(startCollector("http://127.0.0.1:9", env), (error) => {
          assert.ok(error instanceof ConfigError);
          assert.match(error.message, reason);
          return true;
        });
      });
    });
});
