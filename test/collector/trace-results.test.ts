// Results and costs of traces, from spans as instrumentations send them to what readers of the store see.
//   trace-results.1. A root without an output shows the one that ended the trace, and names its run; uploaded outputs
//        stay as they are.
//   trace-results.2. A cost that the sender gave is on its run, on the root and in the list; without one there is none.
import { Client, RunTree } from "langsmith";
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startCollectorWithStore } from "../fakes/traces/collector-with-store.ts";
import { call, removeFolder, temporaryFolder } from "../harness/server.ts";
import { until } from "../harness/threads.ts";

interface Detail {
  readonly outputs?: unknown;
  readonly cost?: number;
  readonly total_cost?: number;
  readonly final_output?: { readonly name: string; readonly outputs: unknown };
}

interface Tree {
  readonly trace: { readonly trace_id: string; readonly cost: number | null };
  readonly runs: readonly { readonly id: string; readonly name: string; readonly cost?: number }[];
}

interface SentSpan {
  readonly name: string;
  /** Index of the parent; the first span is the root. */
  readonly in?: number;
  /** Milliseconds. */
  readonly at: readonly [start: number, end: number];
  readonly attributes?: Readonly<Record<string, string | number>>;
  readonly failed?: boolean;
}

const folder = temporaryFolder();
const started = await startCollectorWithStore(folder, { FLUSH_INTERVAL_MS: "20" });
after(async () => {
  started.process.kill("SIGTERM");
  await started.exited;
  removeFolder(folder);
});

const BEGIN_MS = Date.now() - 60_000;
const time = (ms: number): string => `${BigInt(BEGIN_MS + ms) * 1_000_000n}`;
let traces = 0;

function otlp(spans: readonly SentSpan[]): object {
  const traceId = (++traces).toString(16).padStart(32, "a");
  const id = (index: number): string => (traces * 100 + index).toString(16).padStart(16, "b");
  const sent = spans.map(({ name, in: parent, at, attributes = {}, failed = false }, index) => ({
    traceId,
    spanId: id(index),
    ...(index === 0 ? {} : { parentSpanId: id(parent ?? 0) }),
    name,
    kind: 1,
    startTimeUnixNano: time(at[0]),
    endTimeUnixNano: time(at[1]),
    attributes: Object.entries(attributes).map(([key, value]) => ({
      key,
      value: typeof value === "number" ? { doubleValue: value } : { stringValue: value },
    })),
    status: failed ? { code: 2, message: "broke" } : {},
  }));
  return { resourceSpans: [{ resource: {}, scopeSpans: [{ scope: { name: "tests" }, spans: sent }] }] };
}

async function stored(name: string, count: number): Promise<{ readonly tree: Tree; readonly root: Detail }> {
  const tree = await until(`the trace ${name}`, async () => {
    const list = await call(started.store, "GET", `/traces?name=${encodeURIComponent(name)}`);
    const [item] = (list.body as { readonly items: readonly { readonly trace_id: string; readonly runs: number }[] })
      .items;
    if (item?.runs !== count) return undefined;
    const whole: Tree = (await call(started.store, "GET", `/traces/${item.trace_id}`)).body;
    return whole;
  });
  return { tree, root: await readDetail(tree.runs[0]?.id ?? "") };
}

const readDetail = async (id: string): Promise<Detail> => (await call(started.store, "GET", `/traces/runs/${id}`)).body;

async function send(spans: readonly SentSpan[]): Promise<{ readonly tree: Tree; readonly root: Detail }> {
  const body = JSON.stringify(otlp(spans));
  const reply = await fetch(started.collector, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  assert.equal(reply.status, 200, await reply.text());
  return stored(spans[0]?.name ?? "", spans.length);
}

type Attributes = NonNullable<SentSpan["attributes"]>;

const chat = (text: string): Attributes => ({
  "gen_ai.operation.name": "chat",
  "gen_ai.request.model": "m-1",
  "gen_ai.output.messages": JSON.stringify([{ role: "assistant", parts: [{ type: "text", content: text }] }]),
});
const ownRun = (endedBy: string, output: string): Attributes => ({
  "gen_ai.operation.name": "invoke_agent",
  "holdpoint.kind": "run",
  "langsmith.metadata.holdpoint_kind": "run",
  "langsmith.metadata.ended_by": endedBy,
  "output.value": JSON.stringify({ said: output }),
});

const OUTPUTS: readonly [sender: string, spans: readonly SentSpan[], from: string | null, output: RegExp | null][] = [
  [
    "an HTTP server around one model call",
    [
      { name: "POST /ask", at: [0, 90], attributes: { "http.request.method": "POST" } },
      { name: "chat m-1", at: [10, 80], attributes: chat("forty-two") },
    ],
    "chat m-1",
    /forty-two/,
  ],
  [
    "an agent loop: the last model call answers, not the first one and not the tool",
    [
      { name: "loop", at: [0, 100] },
      { name: "chat one", at: [10, 20], attributes: chat("let me look") },
      {
        name: "execute_tool search",
        at: [21, 95],
        attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.result": '"found"' },
      },
      { name: "chat two", at: [30, 40], attributes: chat("here it is") },
    ],
    "chat two",
    /here it is/,
  ],
  [
    "OpenLLMetry: a workflow without an output; the answer is in a task below its last task",
    [
      { name: "workflow", at: [0, 100], attributes: { "traceloop.span.kind": "workflow" } },
      {
        name: "draft",
        at: [1, 10],
        attributes: { "traceloop.span.kind": "task", "traceloop.entity.output": '"draft"' },
      },
      { name: "finish", at: [11, 90], attributes: { "traceloop.span.kind": "task" } },
      {
        name: "polish",
        in: 2,
        at: [12, 80],
        attributes: { "traceloop.span.kind": "task", "traceloop.entity.output": '"polished"' },
      },
    ],
    "polish",
    /polished/,
  ],
  [
    "OpenInference: a chain with its own output keeps it",
    [
      {
        name: "chain",
        at: [0, 100],
        attributes: { "openinference.span.kind": "CHAIN", "output.value": "the chain's own" },
      },
      {
        name: "ChatModel",
        at: [1, 99],
        attributes: { "openinference.span.kind": "LLM", "output.value": "the model's" },
      },
    ],
    null,
    null,
  ],
  [
    "a lookup that ends last is no result",
    [
      { name: "rag", at: [0, 100] },
      { name: "answer", at: [20, 60], attributes: chat("grounded") },
      {
        name: "store for later",
        at: [60, 99],
        attributes: { "openinference.span.kind": "RETRIEVER", "output.value": "documents" },
      },
    ],
    "answer",
    /grounded/,
  ],
  [
    "a tool is the result where there is nothing else",
    [
      { name: "job", at: [0, 100] },
      {
        name: "execute_tool mail",
        at: [1, 90],
        attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.result": '"sent"' },
      },
    ],
    "execute_tool mail",
    /sent/,
  ],
  [
    "a failed root has no result",
    [
      { name: "broken", at: [0, 100], failed: true },
      { name: "chat half", at: [1, 50], attributes: chat("half an answer") },
    ],
    null,
    null,
  ],
  [
    "this server: the run after the pause has the result, not the state at the pause",
    [
      { name: "invoke_agent paused", at: [0, 20], attributes: ownRun("pause", "waiting") },
      {
        name: "wait ask",
        at: [20, 5000],
        attributes: { "langsmith.metadata.holdpoint_kind": "wait", "output.value": "yes" },
      },
      { name: "invoke_agent again", at: [5000, 6000], attributes: ownRun("done", "refunded") },
    ],
    "invoke_agent again",
    /refunded/,
  ],
  [
    "this server: a second pause is no result",
    [
      { name: "invoke_agent twice", at: [0, 20], attributes: ownRun("pause", "waiting") },
      { name: "invoke_agent more", at: [5000, 6000], attributes: ownRun("pause", "waiting again") },
    ],
    null,
    null,
  ],
];
for (const [sender, spans, from, output] of OUTPUTS) {
  test(`output of ${sender} (trace-results.1)`, async () => {
    const { root } = await send(spans);
    assert.equal(root.final_output?.name ?? null, from);
    if (output !== null) assert.match(JSON.stringify(root.final_output?.outputs), output);
  });
}

const model = (attributes: Attributes): SentSpan => ({
  name: "model call",
  at: [1, 9],
  attributes: { "gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1", ...attributes },
});
const COSTS: readonly [sender: string, call: Attributes, cost: number | null][] = [
  ["gen_ai.usage.cost", { "gen_ai.usage.cost": 0.02 }, 0.02],
  [
    "langfuse",
    {
      "langfuse.observation.type": "generation",
      "langfuse.observation.cost_details": '{"input":0.1,"output":0.2,"total":0.3}',
    },
    0.3,
  ],
  ["langfuse without a total", { "langfuse.observation.cost_details": '{"input":0.25,"output":0.5}' }, 0.75],
  ["LiteLLM", { "gen_ai.cost.input_cost": 0.1, "gen_ai.cost.output_cost": 0.2, "gen_ai.cost.total_cost": 0.31 }, 0.31],
  ["OpenInference", { "llm.cost.total": 0.4 }, 0.4],
  ["the backend's SDK over OpenTelemetry", { "langsmith.usage_metadata": '{"input_tokens":1,"total_cost":0.5}' }, 0.5],
  ["tokens alone", { "gen_ai.usage.input_tokens": 1000, "gen_ai.usage.output_tokens": 1000 }, null],
];
for (const [sender, attributes, cost] of COSTS) {
  test(`cost of ${sender} (trace-results.2)`, async () => {
    const { tree, root } = await send([{ name: `cost of ${sender}`, at: [0, 10] }, model(attributes)]);
    const [, call_] = tree.runs;
    assert.deepEqual(
      [call_?.cost ?? null, root.cost ?? null, root.total_cost ?? null, tree.trace.cost],
      [cost, null, cost, cost],
    );
  });
}

test("an agent that sums up its model calls does not count them twice (trace-results.2)", async () => {
  const agent = { "gen_ai.operation.name": "invoke_agent", "gen_ai.usage.cost": 0.75 };
  const { tree } = await send([
    { name: "summing agent", at: [0, 10], attributes: agent },
    model({ "gen_ai.usage.cost": 0.25 }),
    model({ "gen_ai.usage.cost": 0.5 }),
  ]);
  assert.equal(tree.trace.cost, 0.75);
});

test("the langsmith SDK: costs of its runs, and a root that ends without outputs (trace-results.1, trace-results.2)", async () => {
  const client = new Client({ apiUrl: started.store.url, apiKey: "any" });
  const root = new RunTree({ name: "sdk costs", client, inputs: { n: 1 } });
  await root.postRun();
  for (const [text, total] of [
    ["first", 0.25],
    ["last", 0.5],
  ] as const) {
    const child = root.createChild({ name: `call ${text}`, run_type: "llm", inputs: { prompt: "hi" } });
    await child.postRun();
    await child.end({
      text,
      usage_metadata: { input_tokens: 1, output_tokens: 1, total_tokens: 2, total_cost: total },
    });
    await child.patchRun();
  }
  await root.end({});
  await root.patchRun();
  await client.awaitPendingTraceBatches();
  const { tree, root: shown } = await stored("sdk costs", 3);
  assert.deepEqual([tree.trace.cost, shown.total_cost, shown.final_output?.name], [0.75, 0.75, "call last"]);
});
