// Real senders, unmodified, over a real socket, against a backend that enforces the real one's rules.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { CallbackManager } from "@langchain/core/callbacks/manager";
import * as callbackManager from "@langchain/core/callbacks/manager";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { LegacyOpenTelemetry, OpenTelemetry } from "@ai-sdk/otel";
import { LangChainInstrumentation } from "@arizeai/openinference-instrumentation-langchain";
import { context, SpanStatusCode, trace } from "@opentelemetry/api";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from "@opentelemetry/sdk-trace";
import { generateText } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { startBackend, type AcceptedRun } from "../fakes/backend.ts";
import { startCollector } from "../fakes/collector.ts";

/** Runs `work` with a tracer provider that exports to a collector; returns the backend's data. */
async function sendRuns(
  exporterFor: (url: string) => SpanExporter,
  work: (provider: TracerProvider) => Promise<void>,
): Promise<readonly AcceptedRun[]> {
  const backend = await startBackend();
  const collector = await startCollector(backend.url);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": "sender" }),
    spanProcessors: [new BatchSpanProcessor({ exporter: exporterFor(`${collector.url}/v1/traces`) })],
  });
  try {
    await work(provider);
    await provider.forceFlush();
    await provider.shutdown();
  } finally {
    await collector.stop();
    await backend.close();
  }
  assert.deepEqual(backend.violations, []);
  assert.ok(collector.collector.accounting.received > 0);
  assert.equal(collector.collector.accounting.delivered, collector.collector.accounting.received);
  return backend.runs;
}

const headers = { "x-api-key": "sender-key", "Tracing-Project": "senders" };

describe("OpenTelemetry's exporters with the Node SDK", () => {
  for (const [encoding, Exporter] of [
    ["JSON", JsonExporter],
    ["protobuf", ProtobufExporter],
  ] as const)
    for (const compression of ["none", "gzip"] as const)
      test(`${encoding}, compression ${compression}`, async () => {
        const runs = await sendRuns(
          (url) => new Exporter({ url, headers, compression: compression as never }),
          async (provider) => {
            const tracer = provider.getTracer("sender", "1.2.3");
            const parent = tracer.startSpan("agent");
            const child = tracer.startSpan(
              "chat gpt-4o",
              {
                attributes: {
                  "gen_ai.operation.name": "chat",
                  "gen_ai.request.model": "gpt-4o",
                  "gen_ai.prompt": '{"text":"Hé"}',
                  "gen_ai.usage.input_tokens": 3,
                },
              },
              trace.setSpan(context.active(), parent),
            );
            child.recordException(new TypeError("broke"));
            child.setStatus({ code: SpanStatusCode.ERROR, message: "broke" });
            child.end();
            parent.end();
          },
        );
        assert.equal(runs.length, 2);
        const chat = runs.find((run) => run.main["name"] === "chat gpt-4o") ?? assert.fail();
        const agent = runs.find((run) => run.main["name"] === "agent") ?? assert.fail();
        assert.equal(chat.main["run_type"], "llm");
        assert.equal(chat.main["parent_run_id"], agent.id);
        assert.equal(chat.main["status"], "error");
        assert.match(String(chat.main["error"]), /broke/);
        assert.deepEqual(chat.inputs, { text: "Hé" });
        assert.equal(chat.main["session_name"], "senders");
        assert.equal(chat.key, "sender-key");
      });
});

for (const [form, Integration, operations] of [
  ["OpenTelemetry", OpenTelemetry, ["greeter", "step 1"]],
  ["LegacyOpenTelemetry", LegacyOpenTelemetry, ["greeter"]],
] as const) {
  test(`the ai SDK's telemetry (${form}) with a mock model becomes an llm run below its operation`, async () => {
    const runs = await sendRuns(
      (url) => new ProtobufExporter({ url, headers }),
      async (provider) => {
        const model = new MockLanguageModelV4({
          doGenerate: {
            content: [{ type: "text", text: "Hello there" }],
            finishReason: { unified: "stop", raw: "stop" },
            usage: {
              inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
              outputTokens: { total: 20, text: 20, reasoning: 0 },
            },
            warnings: [],
          },
        });
        const integrations = [new Integration({ tracer: provider.getTracer("ai") })];
        await generateText({ model, prompt: "Say hello", telemetry: { functionId: "greeter", integrations } });
      },
    );
    const llm = runs.filter((run) => run.main["run_type"] === "llm");
    const others = runs.filter((run) => run.main["run_type"] !== "llm");
    assert.deepEqual(
      others.map((run) => String(run.main["name"])).toSorted((a, b) => a.localeCompare(b)),
      operations,
    );
    assert.equal(llm.length, 1);
    assert.ok(others.some((run) => run.id === llm[0]?.main["parent_run_id"]));
    assert.match(JSON.stringify(llm[0]?.outputs), /Hello there/);
    assert.match(JSON.stringify(llm[0]?.inputs), /Say hello/);
    assert.match(llm[0]?.text ?? "", /"input_tokens":10,"output_tokens":20/);
  });
}

test("OpenInference's LangChain instrumentation: a chat model's messages arrive", async () => {
  const runs = await sendRuns(
    (url) => new ProtobufExporter({ url, headers }),
    async (provider) => {
      const instrumentation = new LangChainInstrumentation({ tracerProvider: provider });
      instrumentation.manuallyInstrument(callbackManager);
      const model = new FakeListChatModel({ responses: ["forty-two"] });
      await model.invoke("What is the answer?", { callbacks: new CallbackManager() });
    },
  );
  const [llm] = runs.filter((run) => run.main["run_type"] === "llm");
  assert.match(JSON.stringify(llm?.inputs), /What is the answer/);
  assert.match(JSON.stringify(llm?.outputs), /forty-two/);
});

test("the langsmith SDK's OTel mode: names, tree, inputs and outputs as its own runs have them", async () => {
  const backend = await startBackend();
  const collector = await startCollector(backend.url);
  const sender = fileURLToPath(new URL("../fakes/langsmith-sender.ts", import.meta.url));
  const child = spawn(process.execPath, [sender, `${collector.url}/v1/traces`], {
    env: {
      PATH: process.env["PATH"],
      LANGSMITH_TRACING: "true",
      LANGSMITH_OTEL_ENABLED: "true",
      LANGSMITH_API_KEY: "sdk-key",
      LANGSMITH_ENDPOINT: backend.url,
    },
    stdio: "inherit",
  });
  assert.deepEqual(await once(child, "exit"), [0, null]);
  await collector.stop();
  await backend.close();
  assert.deepEqual(backend.violations, []);
  const [outer] = backend.runs.filter((run) => run.main["name"] === "outer" && run.key === "sender-key");
  const [inner] = backend.runs.filter((run) => run.main["name"] === "inner" && run.key === "sender-key");
  assert.equal(inner?.main["run_type"], "llm");
  assert.equal(inner?.main["parent_run_id"], outer?.id);
  assert.match(JSON.stringify(outer?.inputs), /hello/);
  assert.match(JSON.stringify(inner?.outputs), /HELLO/);
  assert.deepEqual(outer?.main["tags"], ["t1"]);
});
