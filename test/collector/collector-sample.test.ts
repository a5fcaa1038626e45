// Rules that drop spans and sample traces, in the whole collector: dropped spans leave no gap in the tree, traces with an
// error are whole, log records follow their trace, and the books balance, also across a restart.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { countPending } from "@holdpoint/collector/shared/span-accounting.ts";
import { startBackend } from "../fakes/backend.ts";
import { startCollector, type TestCollector } from "../fakes/collector.ts";
import { protobufLogs, buildRecord } from "../fakes/otlp-logs.ts";
import { protobufRequest, buildSpan } from "../fakes/otlp.ts";
import { PATIENCE } from "../harness/patience.ts";

async function withRules(rules: object, work: (env: Record<string, string>) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(`${tmpdir()}/holdpoint-sample-`);
  await writeFile(`${dir}/rules.json`, JSON.stringify(rules));
  await work({ RULES_FILE: `${dir}/rules.json`, SPOOL_DIR: `${dir}/spool` });
  await rm(dir, { recursive: true });
}

function sendLogs(to: TestCollector, body: Buffer): Promise<Response> {
  const headers = { "x-api-key": "key-1", "content-type": "application/x-protobuf" };
  return fetch(`${to.url}/v1/logs`, { method: "POST", body: body as Uint8Array<ArrayBuffer>, headers });
}

describe("rules about spans and traces", PATIENCE, () => {
  test("a dropped span's children attach to the nearest ancestor that is kept", async () => {
    await withRules({ drop: [{ span: "GET *" }, { attribute: "noise" }] }, async (env) => {
      const backend = await startBackend();
      const collector = await startCollector(backend.url, env);
      const spans = [
        buildSpan(1, 0),
        buildSpan(1, 1, 0, { name: "GET /x" }),
        buildSpan(1, 2, 1, { attributes: { noise: true } }),
        buildSpan(1, 3, 2),
      ];
      assert.equal((await collector.send(protobufRequest(spans))).status, 200);
      await backend.whenRuns(2);
      await collector.stop();
      const [root, child] = ["span 1.0", "span 1.3"].map((name) =>
        backend.runs.find(({ main }) => main["name"] === name),
      );
      assert.equal(child?.main["parent_run_id"], root?.id);
      assert.equal(backend.runs.length, 2);
      assert.equal(collector.collector.accounting.filtered, 2);
      assert.equal(countPending(collector.collector.accounting), 0);
      assert.deepEqual(backend.violations, []);
      await backend.close();
    });
  });

  test("log records of a dropped span, or of a trace that is not kept, go with it, before and after it", async () => {
    const rules = { drop: [{ span: "GET *" }, { attribute: "noise" }], sample: { rate: 0.5 } };
    await withRules(rules, async (env) => {
      const backend = await startBackend();
      const collector = await startCollector(backend.url, { ...env });
      const attributes = { "gen_ai.operation.name": "chat" };
      const traces = Array.from({ length: 40 }, (_, at) => at + 1);
      const buildSpans = (trace: number) => [
        buildSpan(trace, 0),
        buildSpan(trace, 1, 0, { name: "GET /x", attributes }),
        buildSpan(trace, 2, 0, { attributes }),
      ];
      const spans = traces.flatMap(buildSpans);
      const logs = (text: string): Buffer =>
        protobufLogs(spans.map((span) => buildRecord(span, "gen_ai.user.message", { body: { content: text } })));
      await sendLogs(collector, logs("before"));
      assert.equal((await collector.send(protobufRequest(spans))).status, 200);
      const { accounting } = collector.collector;
      await sendLogs(collector, logs("after"));
      const session = buildRecord(buildSpan(1, 9), "claude_code.user_prompt", {
        attributes: { "session.id": "s", noise: true, prompt: "hi" },
      });
      await sendLogs(collector, protobufLogs([{ ...session, traceId: "", spanId: "" }]));
      while (countPending(accounting) > 0) await sleep(10);
      await collector.stop();
      const kept = new Set(backend.runs.map(({ main }) => main["trace_id"])).size;
      assert.ok(kept > 5 && kept < 35, `${kept} of 40`);
      assert.deepEqual(
        new Set(backend.runs.map(({ main }) => /^span \d+\.[02]$/.test(String(main["name"])))),
        new Set([true]),
      );
      assert.equal(accounting.filtered, 3 * (40 - kept) + kept);
      assert.deepEqual(accounting.records, {
        received: 241,
        rejected: 0,
        joined: 2 * kept,
        notStored: 6 * (40 - kept) + 2 * kept + 1,
      });
      assert.deepEqual(backend.violations, []);
      await backend.close();
    });
  });

  test("sessions of agents that send log records without ids are sampled, each as a whole", async () => {
    await withRules({ sample: { rate: 0.5 } }, async (env) => {
      const backend = await startBackend();
      const collector = await startCollector(backend.url, { ...env });
      const sessions = Array.from({ length: 40 }, (_, at) => `session ${at}`);
      const alone = (name: string, attributes: object) => ({
        ...buildRecord(buildSpan(1, 1), name, { attributes: { ...attributes } }),
        traceId: "",
        spanId: "",
      });
      for (const prompt of ["one", "two", "three"])
        await sendLogs(
          collector,
          protobufLogs(sessions.map((session) => alone("claude_code.user_prompt", { "session.id": session, prompt }))),
        );
      const details = "gen_ai.client.inference.operation.details";
      const calls = sessions.map((session) => alone(details, { "gen_ai.conversation.id": session }));
      await sendLogs(collector, protobufLogs(calls));
      const { accounting } = collector.collector;
      while (countPending(accounting) > 0) await sleep(10);
      await collector.stop();
      const runsByTrace = Map.groupBy(backend.runs, ({ main }) => main["trace_id"]);
      const sizes = [...runsByTrace.values()].map(({ length }) => length);
      for (const [size, of] of [
        [3, "sessions"],
        [1, "calls"],
      ] as const) {
        const kept = sizes.filter((one) => one === size).length;
        assert.ok(kept > 5 && kept < 35, `${kept} of 40 ${of}`);
      }
      assert.deepEqual(new Set(sizes), new Set([1, 3]));
      assert.equal(accounting.records.notStored, 160 - backend.runs.length);
      assert.deepEqual(backend.violations, []);
      await backend.close();
    });
  });

  test("traces of a named key are kept whole, also after a restart", async () => {
    const gold = createHash("sha256").update("key-gold").digest("hex");
    await withRules({ sample: { rate: 0, keep: [{ key_sha256: [gold] }] } }, async (env) => {
      const backend = await startBackend();
      backend.script = () => ({ status: 503 });
      const first = await startCollector(backend.url, { ...env, MAX_RETRIES: "0" });
      const spans = Array.from({ length: 8 }, (_, trace) => buildSpan(trace + 1, 0));
      for (const key of ["key-gold", "key-tin"])
        assert.equal((await first.send(protobufRequest(spans), { "x-api-key": key })).status, 200);
      await first.stop();
      backend.script = () => ({ status: 202 });
      const second = await startCollector(backend.url, { ...env });
      await backend.whenRuns(8);
      await second.stop();
      assert.equal(backend.runs.length, 8);
      assert.deepEqual(new Set(backend.runs.map(({ key }) => key)), new Set(["key-gold"]));
      assert.equal(second.collector.accounting.filtered, 8);
      await backend.close();
    });
  });

  test("a trace with an error is whole, with its log records; the others go, and a restart changes nothing", async () => {
    await withRules({ sample: { rate: 0, keep: [{ error: true }], wait_ms: 400 } }, async (env) => {
      const backend = await startBackend();
      const first = await startCollector(backend.url, env);
      const call = buildSpan(1, 1, 0, { attributes: { "gen_ai.operation.name": "chat" } });
      await sendLogs(
        first,
        protobufLogs([buildRecord(call, "gen_ai.user.message", { body: { content: "kept words" } })]),
      );
      await sendLogs(
        first,
        protobufLogs([buildRecord(buildSpan(2, 0), "gen_ai.user.message", { body: { content: "gone" } })]),
      );
      await first.send(protobufRequest([call, buildSpan(2, 0), buildSpan(2, 1, 0)]));
      await first.stop(); // undecided
      assert.equal(backend.runs.length, 0);
      const second = await startCollector(backend.url, env);
      await second.send(protobufRequest([buildSpan(1, 0, undefined, { status: { code: 2, message: "failed" } })]));
      await backend.whenRuns(2);
      const { accounting } = second.collector;
      while (countPending(accounting) > 0) await sleep(10);
      const metrics = await (await fetch(`${second.url}/metrics`)).text();
      await second.stop();
      assert.deepEqual(new Set(backend.runs.map(({ main }) => main["trace_id"])).size, 1);
      assert.ok(backend.runs.some(({ text }) => text.includes("kept words")));
      assert.match(metrics, /sampled_out_items_total 3/);
      assert.match(metrics, /sampling_kept_traces_total 1/);
      assert.match(metrics, /sampling_dropped_traces_total 1/);
      assert.equal(accounting.filtered, 2);
      assert.equal(accounting.records.notStored, 1);
      assert.deepEqual(backend.violations, []);
      await backend.close();
    });
  });
});
