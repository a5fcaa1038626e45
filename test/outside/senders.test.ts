// Senders of today: unmodified instrumentations of test/collector/senders, each in a separate process, over a real
// socket. Their dependencies are large (405 MB, of which Mastra and Genkit are 200), so they are a separate project.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startBackend, type AcceptedRun } from "../fakes/backend.ts";
import { startCollector } from "../fakes/collector.ts";
import { nestedProject } from "./nested-project.ts";

const folder = nestedProject("test/collector/senders");

async function collectRuns(sender: string): Promise<readonly AcceptedRun[]> {
  const backend = await startBackend();
  const collector = await startCollector(backend.url);
  try {
    const child = spawn(process.execPath, [join(folder, `${sender}.mjs`), `${collector.url}/v1/traces`], {
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
  } finally {
    await collector.stop();
    await backend.close();
  }
  assert.deepEqual(backend.violations, []);
  return backend.runs.filter((run) => run.key === "sender-key");
}

const CALL = { id: "call-1", type: "function", function: { name: "weather", arguments: '{"city":"Paris"}' } };
const ASKED = [
  { role: "system", content: "Be kind." },
  { role: "user", content: "Weather in Paris?" },
];

/** The model call of a run of the sender: request, tool call, tokens and model. */
function assertModelCall(run: AcceptedRun | undefined, model: string): void {
  assert.ok(run !== undefined);
  const outputs = run.outputs as { readonly messages: readonly Record<string, unknown>[] };
  assert.equal(run.main["run_type"], "llm");
  assert.deepEqual(run.inputs, { messages: ASKED });
  assert.deepEqual(outputs.messages[0]?.["tool_calls"], [CALL]);
  assert.match(run.text, /"input_tokens":11,"output_tokens":7,"total_tokens":18/);
  assert.ok(run.text.includes(`"ls_model_name":"${model}"`), run.text);
}

const isModelCall = (run: AcceptedRun): boolean => run.main["run_type"] === "llm";

describe("senders of today", () => {
  test("langfuse 5.11: model, parameters, tokens, costs, metadata; level ERROR", async () => {
    const runs = await collectRuns("langfuse");
    const answer = runs.find(isModelCall);
    assert.deepEqual(answer?.inputs, { messages: [{ role: "user", content: "Weather in Paris?" }] });
    assert.match(answer.text, /"total_cost":0.25,"input_tokens":11,"output_tokens":7/);
    assert.match(answer.text, /"ls_model_name":"gpt-5"/);
    assert.match(answer.text, /"team":"core"/);
    assert.match(answer.text, /"temperature":0.5/);
    const failed = runs.find((run) => run.main["run_type"] === "tool");
    assert.equal(failed?.main["error"], "no network");
  });

  test("OpenInference's OpenAI instrumentation 4.2", async () => {
    assertModelCall((await collectRuns("openinference")).find(isModelCall), "gpt-5-2026");
  });

  test("OpenLLMetry's OpenAI instrumentation 0.27", async () => {
    assertModelCall((await collectRuns("openllmetry")).find(isModelCall), "gpt-5-2026");
  });

  test("the AI SDK 7: agent, step and model call in one tree", async () => {
    const runs = await collectRuns("ai-sdk");
    const chat = runs.find(isModelCall);
    assertModelCall(chat, "gpt-5");
    const step = runs.find(({ id }) => id === chat?.main["parent_run_id"]);
    const agent = runs.find(({ id }) => id === step?.main["parent_run_id"]);
    assert.deepEqual(agent?.inputs, { messages: ASKED });
    assert.equal(runs.length, 3);
  });

  test("langsmith 0.12 in its OTel mode: tree, inputs and outputs as its own runs have them", async () => {
    const runs = await collectRuns("langsmith");
    const outer = runs.find((run) => run.main["name"] === "outer");
    const inner = runs.find((run) => run.main["name"] === "inner");
    assert.equal(inner?.main["run_type"], "llm");
    assert.equal(inner.main["parent_run_id"], outer?.id);
    assert.deepEqual(outer?.inputs, { input: "hello" });
    assert.deepEqual(inner.outputs, { answer: "HELLO" });
  });

  test("OpenInference's LangChain instrumentation 4.1: system, image, call, and the members beside the messages", async () => {
    const [run] = await collectRuns("langchain");
    assert.ok(run !== undefined);
    const { messages } = run.outputs as { readonly messages: readonly Record<string, unknown>[] };
    const picture = { type: "image_url", image_url: { url: "https://example.com/a.png" } };
    assert.deepEqual(run.inputs, {
      messages: [ASKED[0], { role: "user", content: [{ type: "text", text: "Weather in Paris?" }, picture] }],
    });
    assert.deepEqual(messages[0]?.["tool_calls"], [CALL]);
    assert.deepEqual(messages[0]["response_metadata"], { model_name: "gpt-5-2026" });
    assert.match(run.text, /"input_tokens":11,"output_tokens":7,"total_tokens":18/);
    assert.match(run.text, /"temperature":0.5/);
  });

  test("Mastra 1.71: two model calls with their tokens, each in a step with its calls", async () => {
    const runs = await collectRuns("mastra");
    const calls = runs.filter(isModelCall);
    const steps = runs.filter((run) => run.main["name"] === "agent_step forecaster");
    const agent = runs.find((run) => run.main["name"] === "invoke_agent forecaster");
    assert.equal(calls.length, 2); // the loop around them is no third one
    for (const call of calls) {
      assert.match(call.text, /"ls_provider":"openai","ls_model_name":"gpt-5"/);
      assert.match(call.text, /"input_tokens":11,"output_tokens":7,"total_tokens":18/);
      assert.match(call.text, /"cache_read":3/);
      assert.ok(steps.some(({ id }) => id === call.main["parent_run_id"]));
    }
    const [first] = steps.filter((step) => /"tool_calls"/.test(JSON.stringify(step.outputs)));
    assert.deepEqual(first?.inputs, { messages: ASKED });
    assert.deepEqual(first.outputs, { messages: [{ role: "assistant", content: "", tool_calls: [CALL] }] });
    assert.deepEqual(agent?.inputs, { messages: ASKED });
    assert.deepEqual(agent.main["tags"], ["t1"]);
    assert.match(agent.text, /"thread_id":"th-1"/);
    const tool = runs.find((run) => run.main["run_type"] === "tool");
    assert.deepEqual(tool?.outputs, { rain: true, city: "Paris" });
  });

  test("Genkit 1.42: calls with parts and tokens, wrappers without, embedder, error", async () => {
    const runs = await collectRuns("genkit");
    const calls = runs.filter(isModelCall);
    assert.equal(calls.length, 2);
    const asked = calls.find((call) => /"tool_calls"/.test(JSON.stringify(call.outputs)));
    assert.ok(asked !== undefined);
    const { messages } = asked.outputs as { readonly messages: readonly Record<string, unknown>[] };
    assert.deepEqual((asked.inputs as { readonly messages: unknown }).messages, ASKED);
    assert.deepEqual(messages[0]?.["tool_calls"], [CALL]);
    assert.match(asked.text, /"input_tokens":11,"output_tokens":7,"total_tokens":18/);
    assert.match(asked.text, /"ls_model_name":"fake\/gpt-5"/);
    const wrapper = runs.find((run) => run.main["name"] === "generate");
    assert.match(wrapper?.text ?? "", /"aggregate_usage":{"input_tokens":11/);
    assert.doesNotMatch(wrapper?.text ?? "", /"usage_metadata"/);
    const embedding = runs.find((run) => run.main["run_type"] === "embedding");
    assert.match(embedding?.text ?? "", /"ls_model_name":"fake\/embed"/);
    const broken = runs.find((run) => run.main["name"] === "broken");
    assert.match(String(broken?.main["error"]), /no network/);
  });

  test("logfire 0.22: message as name, tags, attributes, a log below its span, an error", async () => {
    const runs = await collectRuns("logfire");
    const asking = runs.find((run) => run.main["name"] === "asking Paris");
    const log = runs.find((run) => run.main["name"] === "rain in Paris");
    assert.deepEqual(asking?.main["tags"], ["t1"]);
    assert.match(asking.text, /"city":"Paris"/);
    assert.equal(log?.main["parent_run_id"], asking.id);
    assert.match(String(runs.find((run) => run.main["name"] === "breaks")?.main["error"]), /no network/);
  });
});
