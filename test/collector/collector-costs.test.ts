// GenAI metrics, prices and limits in US dollars, end to end: what goes to the backend counts, once, in a bounded number of
// series.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { describe, test } from "node:test";
import { ConfigError } from "@holdpoint/base/config/config.ts";
import { startBackend, type FakeBackend } from "../fakes/backend.ts";
import { startCollector, type TestCollector } from "../fakes/collector.ts";
import { protobufLogs, buildRecord } from "../fakes/otlp-logs.ts";
import { protobufRequest, buildSpan, type TestSpan, type TestValue } from "../fakes/otlp.ts";
import { PATIENCE } from "../harness/patience.ts";

const PRICES = {
  "gpt-5": { input: 2, output: 10, cache_read: 0.5 },
  "claude-*": { input: 3, output: 15 },
};

interface Running {
  readonly collector: TestCollector;
  readonly backend: FakeBackend;
  readonly show: () => Promise<string>;
}

async function withCollector(
  use: (running: Running) => Promise<void>,
  { prices = PRICES, rules = {} }: { readonly prices?: unknown; readonly rules?: object } = {},
): Promise<void> {
  const dir = await mkdtemp(`${tmpdir()}/holdpoint-costs-`);
  await writeFile(`${dir}/prices.json`, typeof prices === "string" ? prices : JSON.stringify(prices));
  await writeFile(`${dir}/rules.json`, JSON.stringify(rules));
  const backend = await startBackend();
  try {
    const env = { PRICES_FILE: `${dir}/prices.json`, RULES_FILE: `${dir}/rules.json`, TRACING_PROJECT: "shop" };
    const collector = await startCollector(backend.url, env);
    const show = async (): Promise<string> => (await fetch(`${collector.url}/metrics`)).text();
    try {
      await use({ collector, backend, show });
    } finally {
      await collector.stop();
    }
  } finally {
    await backend.close();
    await rm(dir, { recursive: true });
  }
}

const call = (trace: number, model: string, more: Readonly<Record<string, TestValue>> = {}): TestSpan =>
  buildSpan(trace, 0, undefined, {
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": model,
      "gen_ai.usage.input_tokens": 1000n,
      "gen_ai.usage.output_tokens": 100n,
      ...more,
    },
  });

/** The value of the series whose labels are all of these, in any order. */
function readValue(text: string, name: string, labels: Readonly<Record<string, string>>): number {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const lines = text
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`) && wanted.every((one) => line.includes(one)));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
}

describe("metrics of generative AI", PATIENCE, () => {
  test("have tokens, durations and costs by model, provider, operation and project, in the buckets of the conventions", () =>
    withCollector(async ({ backend, collector, show }) => {
      const agent = { "gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 5000n };
      await collector.send(
        protobufRequest([
          call(1, "gpt-5", { "gen_ai.usage.cache_read.input_tokens": 400n }),
          call(2, "claude-sonnet-5", { "gen_ai.provider.name": "anthropic" }),
          call(3, "gpt-5", { "gen_ai.usage.cost": 0.5 }),
          call(4, "unknown"),
          buildSpan(5, 0, undefined, { name: "agent", attributes: agent }),
          buildSpan(6, 0, undefined, { name: "GET /", attributes: { "http.request.method": "GET" } }),
        ]),
      );
      await backend.whenRuns(6);
      const text = await show();
      const gpt = { gen_ai_request_model: "gpt-5", gen_ai_provider_name: "openai", project: "shop" };
      const chat = { ...gpt, gen_ai_operation_name: "chat" };
      const usage = "gen_ai_client_token_usage";
      assert.equal(readValue(text, `${usage}_sum`, { ...chat, gen_ai_token_type: "input" }), 2000);
      assert.equal(readValue(text, `${usage}_sum`, { ...chat, gen_ai_token_type: "output" }), 200);
      assert.equal(readValue(text, `${usage}_count`, { gen_ai_token_type: "input" }), 4);
      assert.equal(readValue(text, `${usage}_bucket`, { ...chat, le: "1024", gen_ai_token_type: "input" }), 2);
      assert.equal(readValue(text, `${usage}_bucket`, { ...chat, le: "256", gen_ai_token_type: "input" }), 0);
      const buckets = [...text.matchAll(/token_usage_bucket\{le="(\d+)"/g)].map(([, le]) => Number(le));
      assert.equal(Math.max(...buckets), 67_108_864);
      const duration = "gen_ai_client_operation_duration_seconds";
      assert.equal(readValue(text, `${duration}_count`, chat), 2);
      assert.equal(readValue(text, `${duration}_bucket`, { ...chat, le: "81.92" }), 2);
      assert.ok(Math.abs(readValue(text, `${duration}_sum`, chat) - 0.001) <= 0.002); // two calls, each to a millisecond
      assert.equal(readValue(text, `${duration}_count`, { gen_ai_operation_name: "invoke_agent" }), 1);
      assert.equal(readValue(text, `${duration}_count`, {}), 5);
      const cost = "gen_ai_cost_usd_total";
      const near = (value: number, wanted: number): void => assert.ok(Math.abs(value - wanted) < 1e-9, `${value}`);
      near(readValue(text, cost, { ...chat, source: "table" }), (600 * 2 + 400 * 0.5 + 100 * 10) / 1e6);
      near(readValue(text, cost, { ...chat, source: "sender" }), 0.5);
      near(readValue(text, cost, { gen_ai_request_model: "claude-sonnet-5" }), (1000 * 3 + 100 * 15) / 1e6);
      near(readValue(text, cost, { gen_ai_request_model: "unknown" }), 0);
    }));

  test("a call that two instrumentations see costs what the inner one's sender says, not what the table does", () =>
    withCollector(async ({ backend, collector, show }) => {
      const { attributes = {}, ...inner } = call(1, "gpt-5", { "gen_ai.usage.cost": 0.0001 });
      const id = "00000000000000aa";
      await collector.send(
        protobufRequest([
          { ...inner, attributes, parentSpanId: id },
          { ...call(1, "gpt-5"), spanId: id },
        ]),
      );
      await backend.whenRuns(2);
      const text = await show();
      assert.equal(readValue(text, "gen_ai_cost_usd_total", { source: "sender" }), 0.0001);
      assert.equal(readValue(text, "gen_ai_cost_usd_total", { source: "table" }), 0);
      assert.equal(readValue(text, "gen_ai_client_token_usage_sum", { gen_ai_token_type: "input" }), 1000);
    }));

  test("a call that two instrumentations see is priced once, and timed twice, when its outer run comes late", () =>
    withCollector(async ({ backend, collector, show }) => {
      const id = "00000000000000aa";
      await collector.send(protobufRequest([{ ...call(1, "gpt-5"), parentSpanId: id }]));
      await backend.whenRuns(2); // with an empty root
      await collector.send(protobufRequest([{ ...call(1, "gpt-5"), spanId: id }]));
      await backend.when(() => backend.runs.some(({ event }) => event === "patch"));
      const text = await show();
      assert.equal(readValue(text, "gen_ai_cost_usd_total", { source: "table" }), 0.003);
      assert.equal(readValue(text, "gen_ai_client_token_usage_sum", { gen_ai_token_type: "input" }), 1000);
      assert.equal(readValue(text, "gen_ai_client_operation_duration_seconds_count", {}), 2);
    }));

  test("count a run that is sent again once, with what comes later", () =>
    withCollector(async ({ backend, collector, show }) => {
      const { attributes = {}, ...span } = call(1, "gpt-5");
      const bare = Object.fromEntries(Object.entries(attributes).filter(([name]) => !name.includes("usage")));
      await collector.send(protobufRequest([{ ...span, attributes: bare }]));
      await backend.whenRuns(1);
      const record = buildRecord(span, "gen_ai.client.inference.operation.details", {
        attributes: { "gen_ai.usage.input_tokens": 7n, "gen_ai.output.messages": "[]" },
      });
      for (const path of ["logs", "traces"])
        await fetch(`${collector.url}/v1/${path}`, {
          method: "POST",
          body: (path === "logs" ? protobufLogs([record]) : protobufRequest([{ ...span, attributes: bare }])) as never,
          headers: { "x-api-key": "key-1", "content-type": "application/x-protobuf" },
        });
      await backend.when(() => backend.runs.some(({ event }) => event === "patch"));
      const text = await show();
      assert.equal(readValue(text, "gen_ai_client_operation_duration_seconds_count", {}), 1);
      assert.equal(readValue(text, "gen_ai_client_token_usage_sum", {}), 7);
    }));

  test("have at most 500 sets of labels, whatever senders invent, and no broken line", () =>
    withCollector(async ({ backend, collector, show }) => {
      const strange = ['"}\n# x', "\\", "m".repeat(100_000), "", "\u0000\u2028"];
      const invented = Array.from({ length: 700 }, (_, at) => call(at + 1, strange[at] ?? `model-${at}`));
      const huge = { "gen_ai.usage.input_tokens": 2n ** 62n, "gen_ai.usage.cost": 1e300 };
      await collector.send(protobufRequest([...invented, call(9000, "m", huge)]));
      await backend.whenRuns(701);
      const text = await show();
      const series = text
        .split("\n")
        .filter((line) => line.startsWith("gen_ai_client_operation_duration_seconds_count"));
      assert.equal(series.length, 501);
      assert.ok(series.every((line) => line.length < 500));
      assert.equal(readValue(text, "gen_ai_client_operation_duration_seconds_count", {}), 701);
      assert.ok(readValue(text, "gen_ai_client_token_usage_count", { gen_ai_request_model: "other" }) >= 200);
      assert.ok(readValue(text, "gen_ai_cost_usd_total", {}) < 1e6);
      assert.ok(
        text
          .split("\n")
          .every((line) => line === "" || /^(?:# (?:HELP|TYPE) |[a-z_\d]+(?:\{[^\n]*\})? -?[\d.e+-]+$)/.test(line)),
      );
    }));
});

describe("usd_per_day", PATIENCE, () => {
  test("refuses a key whose calls have cost that much, and no other", () =>
    withCollector(
      async ({ backend, collector, show }) => {
        assert.equal((await collector.send(protobufRequest([call(1, "gpt-5")]))).status, 200);
        await backend.whenRuns(1);
        const refused = await collector.send(protobufRequest([call(2, "gpt-5")]));
        assert.deepEqual([refused.status, Number(refused.headers.get("retry-after")) > 0], [429, true]);
        assert.equal((await collector.send(protobufRequest([call(3, "gpt-5")]), { "x-api-key": "key-2" })).status, 200);
        assert.match(await show(), /over_limit_requests_total\{reason="usd_per_day"\} 1/);
      },
      { rules: { limits: { default: { usd_per_day: 0.003 } } } },
    ));
});

describe("a fault in PRICES_FILE stops the start, with its name", () => {
  for (const [name, prices] of [
    ["no JSON", "{"],
    ["a list", []],
    ["a negative price", { m: { input: -1 } }],
    ["a price that is a text", { m: { input: "1" } }],
    ["an unknown member", { m: { input: 1, per: 1 } }],
  ] as const)
    test(name, async () => {
      await assert.rejects(
        withCollector(() => Promise.resolve(), { prices }),
        (error) => error instanceof ConfigError && error.problems[0]?.name === "PRICES_FILE",
      );
    });
});
