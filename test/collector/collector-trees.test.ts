// Trees at the backend: spans below a filtered one stay siblings, and every trace has a root, also when the parent of a
// span comes late, after a kill, or never.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { describe, test } from "node:test";
import { countPending } from "@holdpoint/collector/shared/span-accounting.ts";
import { type FakeBackend, startBackend } from "../fakes/backend.ts";
import { startCollector } from "../fakes/collector.ts";
import { startCollectorProcess } from "../fakes/processes.ts";
import { protobufRequest, buildSpan, type TestSpan } from "../fakes/otlp.ts";
import { PATIENCE } from "../harness/patience.ts";

/** Name → name of the parent, "" for a root; the newest upload of a run counts. */
function nameTree({ runs }: FakeBackend): Record<string, string> {
  const newest = new Map(runs.map((run) => [run.id, run.main]));
  const findRunName = (id: string): string => (newest.get(id)?.["name"] ?? "") as string;
  return Object.fromEntries(
    [...newest.values()].map((main) => [String(main["name"]), findRunName((main["parent_run_id"] ?? "") as string)]),
  );
}

const REMOTE = 0x301;
const web = (trace: number, flags = 1): TestSpan =>
  buildSpan(trace, 0, undefined, { name: "POST /chat", attributes: { "http.method": "POST" }, flags });
const call = (trace: number, span: number, parent = 0): TestSpan =>
  buildSpan(trace, span, parent, { name: `chat ${span}`, attributes: { "gen_ai.operation.name": "chat" } });

const RULES = JSON.stringify({ drop: [{ span: "POST *" }] });

const ORDERS: readonly (readonly [string, (web: TestSpan, calls: readonly TestSpan[]) => readonly TestSpan[][]])[] = [
  ["last", (root, calls) => [[...calls, root]]],
  ["first", (root, calls) => [[root, ...calls]]],
  ["first, in requests of their own", (root, calls) => [[root], ...calls.map((one) => [one])]],
  ["between them, in requests of their own", (root, [first, ...rest]) => [[first ?? root], [root], rest]],
];

describe("below a filtered root", PATIENCE, () => {
  for (const filter of ["FILTER_NON_GENAI", "a drop rule"])
    for (const [order, requests] of ORDERS)
      test(`of ${filter} that comes ${order}, model calls are siblings, and an empty root stays`, async (t) => {
        const dir = await mkdtemp(`${tmpdir()}/holdpoint-trees-`);
        t.after(() => rm(dir, { recursive: true }));
        await writeFile(`${dir}/rules.json`, RULES);
        const rules = filter === "FILTER_NON_GENAI" ? { [filter]: "true" } : { RULES_FILE: `${dir}/rules.json` };
        const env = { ...rules, orphanTimeoutMs: "60000" };
        const backend = await startBackend();
        const collector = await startCollector(backend.url, env);
        const calls = [call(1, 1), call(1, 2), call(1, 3, 2)];
        for (const spans of requests(web(1), calls))
          assert.equal((await collector.send(protobufRequest(spans))).status, 200);
        await backend.whenRuns(4);
        await collector.stop();
        await backend.close();
        assert.deepEqual(nameTree(backend), {
          "POST /chat": "",
          "chat 1": "POST /chat",
          "chat 2": "POST /chat",
          "chat 3": "chat 2",
        });
        const root = backend.runs.find(({ main }) => main["name"] === "POST /chat");
        assert.deepEqual([root?.inputs, root?.outputs], [{}, null], "without content");
        assert.doesNotMatch(root?.text ?? "", /http\.method/);
        assert.deepEqual(backend.violations, []);
        assert.equal(countPending(collector.collector.accounting), 0);
        assert.deepEqual([collector.collector.accounting.filtered, collector.collector.accounting.added], [1, 1]);
      });
});

describe("a span whose parent does not come", PATIENCE, () => {
  for (const flags of [1, REMOTE])
    test(`has a root above it (flags ${flags}), and stays there when the parent arrives late`, async () => {
      const backend = await startBackend();
      const collector = await startCollector(backend.url, { orphanTimeoutMs: "100" });
      const orphan = { ...call(2, 2, 1), flags };
      await collector.send(protobufRequest([orphan, call(2, 3, 2)]));
      await backend.whenRuns(3);
      const root = backend.runs.find(({ main }) => main["parent_run_id"] === undefined);
      assert.equal(root?.main["trace_id"], root?.id);
      assert.match(JSON.stringify(root?.main["extra"]), /no span has arrived/);
      await collector.send(protobufRequest([{ ...call(2, 1, 0), flags }])); // a remote parent of its own
      await backend.whenRuns(4);
      await collector.send(protobufRequest([web(2)]));
      await backend.when(() => backend.runs.some(({ event }) => event === "patch"));
      await collector.stop();
      await backend.close();
      const last = backend.runs.at(-1);
      assert.deepEqual([last?.event, last?.id], ["patch", root?.id]);
      assert.deepEqual(nameTree(backend), {
        "POST /chat": "",
        "chat 1": "POST /chat",
        "chat 2": "POST /chat",
        "chat 3": "chat 2",
      });
      assert.deepEqual(backend.violations, []);
      assert.equal(countPending(collector.collector.accounting), 0);
    });

  test("has one root, although the collector is killed before the real one comes", async (t) => {
    const dir = await mkdtemp(`${tmpdir()}/holdpoint-trees-`);
    t.after(() => rm(dir, { recursive: true }));
    const backend = await startBackend();
    const env = { TRACING_ENDPOINT: backend.url, SPOOL_DIR: dir };
    const start = async () => (await startCollectorProcess(env)) ?? assert.fail("did not start");
    const send = async (url: string, spans: readonly TestSpan[]): Promise<void> => {
      const headers = { "content-type": "application/x-protobuf", "x-api-key": "key-1" };
      const body = new Uint8Array(protobufRequest(spans));
      assert.equal((await fetch(`${url}/v1/traces`, { method: "POST", body, headers })).status, 200);
    };
    const first = await start();
    await send(first.url, [{ ...call(3, 2), flags: REMOTE }]);
    await backend.whenRuns(2);
    first.child.kill("SIGKILL");
    await first.ended;
    const second = await start();
    await send(second.url, [{ ...call(3, 3), flags: REMOTE }]);
    const named = (name: string) => backend.runs.filter(({ main }) => main["name"] === name);
    await backend.when(() => named("chat 3").length === 1);
    await send(second.url, [web(3)]);
    await backend.when(() => named("POST /chat").length === 1);
    second.child.kill("SIGTERM");
    assert.equal(await second.ended, 0);
    await backend.close();
    assert.deepEqual(nameTree(backend), { "POST /chat": "", "chat 2": "POST /chat", "chat 3": "POST /chat" });
    const roots = backend.runs.filter(({ main }) => main["parent_run_id"] === undefined);
    assert.deepEqual(new Set(roots.map(({ id }) => id)).size, 1);
    assert.equal(roots.at(-1)?.event, "patch");
    assert.deepEqual(backend.violations, []);
  });
});
