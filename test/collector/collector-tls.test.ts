// Tests of the connection to the backend over TLS: trusted certificates, the route, and a key hidden from all others on
// it.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { ConfigError } from "@holdpoint/base/config/config.ts";
import { openBackend } from "@holdpoint/collector/service/open-collector.ts";
import { type FakeBackend, startBackend } from "../fakes/backend.ts";
import { type Certified, createAuthority } from "../fakes/certificate.ts";
import { startCollector, type TestCollector, testConfig } from "../fakes/collector.ts";
import { type ConnectProxy, startConnectProxy } from "../fakes/connect-proxy.ts";
import { jsonRequest, buildSpan } from "../fakes/otlp.ts";

const KEY = "key-that-nobody-on-the-way-may-read";
const authority = createAuthority();
const trusted = authority.certify(["127.0.0.1", "localhost"]);
const usual = getCACertificates();

// As NODE_EXTRA_CA_CERTS does when a process starts.
before(() => setDefaultCACertificates([...usual, authority.cert]));
after(() => setDefaultCACertificates(usual));

/** A collector with its real HTTP adapter, in front of a backend with this certificate. */
async function withSecureBackend(
  certified: Certified,
  env: Readonly<Record<string, string>>,
  run: (collector: TestCollector, backend: FakeBackend) => Promise<void>,
): Promise<void> {
  const backend = await startBackend({ tls: certified });
  const all = { TRACING_ENDPOINT: backend.url, retryCooldownMs: "1", SHUTDOWN_TIMEOUT_MS: "2100", ...env };
  const collector = await startCollector(backend.url, all, { backend: openBackend(testConfig(all)) });
  try {
    await run(collector, backend);
  } finally {
    await collector.stop();
    await backend.close();
  }
  assert.deepEqual(backend.violations, []);
}

async function sendOne(collector: TestCollector): Promise<void> {
  assert.equal((await collector.send(jsonRequest([buildSpan(1, 0)]), { "x-api-key": KEY })).status, 200);
}

/** Resolves with the reason for the upload pause. */
async function whyResting(collector: TestCollector): Promise<string> {
  await collector.whenLogged("uploads_paused");
  const line = collector.log.find((one) => one.includes("uploads_paused")) ?? "";
  return (JSON.parse(line) as { reason: string }).reason;
}

describe("certificates", () => {
  test("certificates of an authority that the process trusts are trusted; the collector presents its own", async () => {
    await withSecureBackend(trusted, {}, async (collector, backend) => {
      await sendOne(collector);
      await backend.whenRuns(1);
      assert.equal(backend.uploads[0]?.key, KEY);
      assert.match(backend.uploads[0]?.headers["user-agent"] ?? "", /^holdpoint-collector/);
    });
  });

  const refused: readonly (readonly [string, Certified, RegExp])[] = [
    ["of another authority with the same name", createAuthority().certify(["127.0.0.1"]), /SIGNATURE|VERIFY|CERT/],
    ["for another host", authority.certify(["other.example"]), /ALTNAME/],
    ["that have run out", authority.certify(["127.0.0.1"], { from: -2, to: -1 }), /EXPIRED/],
    ["that are not valid yet", authority.certify(["127.0.0.1"], { from: 1, to: 2 }), /NOT_YET_VALID/],
  ];
  for (const [name, certified, reason] of refused)
    test(`${name} are refused: nothing is sent, the runs are kept`, async () => {
      await withSecureBackend(certified, {}, async (collector, backend) => {
        await sendOne(collector);
        assert.match(await whyResting(collector), reason);
        assert.equal(backend.requests(), 0);
        assert.equal(collector.collector.lost(), 0);
      });
    });
});

describe("HTTPS_PROXY", () => {
  let proxy: ConnectProxy;
  const env = (more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
    HTTPS_PROXY: proxy.url.replace("://", "://user:word@"),
    ...more,
  });
  const withProxy = async (run: () => Promise<void>): Promise<void> => {
    proxy = await startConnectProxy();
    try {
      await run();
    } finally {
      await proxy.close();
    }
  };

  test("uploads go through its tunnel; it sees the host, and neither key nor runs", () =>
    withProxy(() =>
      withSecureBackend(trusted, env(), async (collector, backend) => {
        await sendOne(collector);
        await backend.whenRuns(1);
        assert.equal(backend.uploads[0]?.key, KEY);
        assert.ok(proxy.asked.length > 0);
        for (const { target, headers } of proxy.asked) {
          assert.equal(target, new URL(backend.url).host);
          assert.equal(headers["proxy-authorization"], `Basic ${Buffer.from("user:word").toString("base64")}`);
          assert.ok(!JSON.stringify(headers).includes(KEY));
        }
        assert.deepEqual(proxy.plain, []);
        const seen = proxy.seen();
        assert.ok(seen.length > 1000);
        for (const secret of [KEY, "multipart", "question", "holdpoint-collector"]) assert.ok(!seen.includes(secret));
      }),
    ));

  test("hosts in NO_PROXY are reached without it", () =>
    withProxy(() =>
      withSecureBackend(trusted, env({ NO_PROXY: "example.com,127.0.0.1" }), async (collector, backend) => {
        await sendOne(collector);
        await backend.whenRuns(1);
        assert.deepEqual([proxy.asked, proxy.plain], [[], []]);
      }),
    ));

  test("a certificate is checked behind it too", () =>
    withProxy(() =>
      withSecureBackend(authority.certify(["other.example"]), env(), async (collector, backend) => {
        await sendOne(collector);
        assert.match(await whyResting(collector), /ALTNAME/);
        assert.ok(proxy.asked.length > 0);
        assert.equal(backend.requests(), 0);
        assert.ok(!proxy.seen().includes(KEY));
      }),
    ));

  test("after refusals the runs stay, and arrive when it accepts them", () =>
    withProxy(() =>
      withSecureBackend(trusted, env(), async (collector, backend) => {
        proxy.status = 407;
        await sendOne(collector);
        const reason = await whyResting(collector);
        assert.ok(!reason.includes("word"), reason);
        proxy.status = 200;
        await backend.whenRuns(1);
      }),
    ));

  for (const value of ["socks5://127.0.0.1:1080", "127.0.0.1:3128", "http://", "http://user:word@"])
    test(`${value} stops the start, and is not shown`, () => {
      const config = testConfig({ TRACING_ENDPOINT: "https://backend.example", HTTPS_PROXY: value });
      assert.throws(
        () => openBackend(config),
        (error) => error instanceof ConfigError && /HTTPS_PROXY/.test(error.message) && !error.message.includes(value),
      );
    });
});
