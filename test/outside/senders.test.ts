// Senders of today: unmodified instrumentations of test/collector/senders, each in a separate process, over a real
// socket. Their dependencies are large (650 MB, of which Mastra and Genkit are 200), so they are a separate project.
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

interface Talk {
  readonly system?: string;
  /** undefined: the sender does not count it. */
  readonly reasoning?: number | undefined;
}

/** The question, a call of the tool, its result and the answer: two model calls, and the tool's own run. */
function assertWeatherTalk(runs: readonly AcceptedRun[], model: string, given: Talk = {}): void {
  const { system, reasoning } = { system: "Be kind.", reasoning: 2, ...given };
  const asked = [{ role: "system", content: system }, ASKED[1]];
  const talks = runs.filter(isModelCall);
  assert.equal(talks.length, 2);
  const [first, second] = talks
    .map(({ inputs, outputs }) => ({
      asked: (inputs as { readonly messages: readonly Message[] }).messages,
      said: (outputs as { readonly messages: readonly Message[] }).messages,
    }))
    .toSorted((one, other) => one.asked.length - other.asked.length);
  assert.ok(first !== undefined && second !== undefined);
  assert.deepEqual(first.asked, asked);
  assert.deepEqual(second.asked.slice(0, 2), asked);
  for (const { tool_calls: calls } of [first.said[0] ?? {}, second.asked[2] ?? {}]) {
    const [call] = calls as readonly { readonly id: string; readonly function: unknown }[];
    assert.deepEqual([call?.id, call?.function], [CALL.id, CALL.function]);
  }
  assert.deepEqual([second.asked[3]?.["role"], second.asked[3]?.["tool_call_id"]], ["tool", CALL.id]);
  assert.match(JSON.stringify(second.asked[3]?.["content"]), /rain\W+true/);
  assert.deepEqual([second.asked.length, second.said.length, second.said[0]?.["content"]], [4, 1, "It rains."]);
  for (const { text } of talks) {
    assert.match(text, /"input_tokens":11,"output_tokens":7,"total_tokens":18,"input_token_details":{"cache_read":3}/);
    assert.equal(text.includes('"output_token_details":{"reasoning":2}'), reasoning === 2);
    assert.ok(text.includes(`"ls_model_name":"${model}"`), text);
    assert.equal(text.split("Weather in Paris?").length - 1, 1, text);
  }
  const tool = runs.find((run) => run.main["run_type"] === "tool");
  assert.deepEqual([tool?.main["name"], tool?.inputs], ["weather", { city: "Paris" }]);
  assert.match(JSON.stringify(tool?.outputs), /"rain":true/);
}

type Message = Readonly<Record<string, unknown>>;

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

  test("the AI SDK 6: two model calls and the tool below the function that names them", async () => {
    const runs = await collectRuns("ai-sdk-6");
    const root = runs.find((run) => run.main["name"] === "forecast");
    assert.deepEqual(root?.inputs, { messages: ASKED });
    assert.deepEqual(root.outputs, { messages: [{ role: "assistant", content: "It rains." }] });
    assert.equal(runs.length, 4);
    for (const run of runs) assert.ok(run === root || run.main["parent_run_id"] === root.id);
    const talks = runs.filter(isModelCall).map((run) => JSON.stringify([run.inputs, run.outputs]));
    assert.deepEqual(
      talks
        .toSorted((one, other) => one.length - other.length)
        .map((talk) => [talk.split('"id":"call-1"').length - 1, talk.split('"tool_call_id":"call-1"').length - 1]),
      [
        [1, 0],
        [1, 1],
      ],
    );
    for (const { text } of runs.filter(isModelCall)) {
      assert.match(text, /"input_tokens":11,"output_tokens":7,"total_tokens":18/);
      assert.match(text, /"cache_read":3.*"reasoning":2/);
      assert.match(text, /"team":"core"/);
    }
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

  test("OpenAI Agents 0.20, traced by OpenInference 0.2: each turn has its model call, the tool is between them", async () => {
    const runs = await collectRuns("openai-agents");
    assertWeatherTalk(runs, "gpt-5-2026");
    const parents = runs.filter(isModelCall).map(({ main }) => main["parent_run_id"]);
    assert.equal(new Set(parents).size, 2);
    for (const id of parents) assert.equal(runs.find((run) => run.id === id)?.main["name"], "turn");
    const root = runs.find((run) => run.main["parent_run_id"] === undefined);
    assert.deepEqual(root?.inputs, { messages: [ASKED[1]] });
    assert.deepEqual(root.outputs, { text: "It rains." });
  });

  test("Google's ADK 2.0 for JavaScript: requests and responses of Gemini as messages", async () => {
    const runs = await collectRuns("google-adk");
    const system = 'You are an agent. Your internal name is "forecaster".\n\nBe kind.'; // ADK writes the first sentence
    assertWeatherTalk(runs, "gemini-2.5-flash", { system });
    assert.ok(runs.some((run) => run.main["name"] === "invoke_agent forecaster"));
  });

  test("Strands 1.19 for TypeScript: events as messages, in cycles below the agent", async () => {
    const runs = await collectRuns("strands");
    assertWeatherTalk(runs, "gpt-5", { reasoning: undefined });
    const agent = runs.find((run) => run.main["name"] === "invoke_agent forecaster");
    assert.deepEqual(agent?.inputs, { messages: ASKED });
    assert.deepEqual(agent.outputs, {
      messages: [{ role: "assistant", content: "It rains.", finish_reason: "endTurn" }],
    });
  });

  test("OpenLIT 1.15: attributes and its event of the operation are one content", async () => {
    const runs = await collectRuns("openlit");
    assert.equal(runs.length, 1);
    assertModelCall(runs[0], "gpt-5-2026");
    assert.match(runs[0]?.text ?? "", /"cache_read":3/);
  });

  test("OpenTelemetry's own OpenAI instrumentation 0.19: log records are the content of their span", async () => {
    const runs = await collectRuns("opentelemetry");
    assert.equal(runs.length, 1);
    assertModelCall(runs[0], "gpt-5-2026");
  });
});
