// Pairs of dialects: one model call that two instrumentations see counts once.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TraceRun } from "../shared/trace-run.ts";
import { CONTEXT, type GivenSpan, buildSpan } from "../translate/testkit.ts";
import { createTranslator } from "../translate/translate.ts";
import { type Assembler, createAssembler, toDecision } from "./assemble.ts";
import { ASSEMBLE_LIMITS } from "./trace-table.ts";

type Call = (input: number, output: number) => GivenSpan;

const DIALECTS: Readonly<Record<string, Call>> = {
  "AI SDK": (input, output) => ({
    name: "ai.generateText.doGenerate",
    scope: "ai",
    attributes: {
      "ai.operationId": "ai.generateText.doGenerate",
      "ai.model.id": "gpt-5",
      "ai.usage.promptTokens": input,
      "ai.usage.completionTokens": output,
    },
  }),
  OpenInference: (input, output) => ({
    name: "ChatCompletion",
    attributes: {
      "openinference.span.kind": "LLM",
      "llm.model_name": "gpt-5",
      "llm.token_count.prompt": input,
      "llm.token_count.completion": output,
    },
  }),
  OpenLLMetry: (input, output) => ({
    name: "openai.chat",
    attributes: {
      "llm.request.type": "chat",
      "gen_ai.request.model": "gpt-5",
      "gen_ai.usage.prompt_tokens": input,
      "gen_ai.usage.completion_tokens": output,
      "llm.usage.total_tokens": input + output,
    },
  }),
  "GenAI conventions": (input, output) => ({
    name: "chat gpt-5",
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.usage.input_tokens": input,
      "gen_ai.usage.output_tokens": output,
    },
  }),
  Langfuse: (input, output) => ({
    name: "generation",
    attributes: {
      "langfuse.observation.type": "generation",
      "langfuse.observation.usage_details": JSON.stringify({ input, output, total: input + output }),
    },
  }),
  "a body": (input, output) => ({
    name: "llm",
    attributes: {
      "openinference.span.kind": "LLM",
      "output.value": JSON.stringify({
        choices: [{ message: { role: "assistant", content: "Hi" } }],
        usage: { prompt_tokens: input, completion_tokens: output },
      }),
    },
  }),
};
const EMBEDDING: GivenSpan = {
  name: "embeddings",
  attributes: { "gen_ai.operation.name": "embeddings", "gen_ai.usage.input_tokens": 5 },
};
const TOOL: GivenSpan = { name: "search", attributes: { "openinference.span.kind": "TOOL" } };
const CHAIN: GivenSpan = { name: "retry", attributes: { "openinference.span.kind": "CHAIN" } };

type Step = number | "release" | "restart" | { readonly amend: number; readonly by: GivenSpan };

/** Each below the one before, or below the one that `parents` names; in this order of arrival. The last run of each. */
function place(spans: readonly GivenSpan[], order: readonly Step[], parents: readonly number[] = []): TraceRun[] {
  const translate = createTranslator({ filterNonGenAi: false, project: "" });
  const out: TraceRun[] = [];
  const clock = { now: () => 0, monotonic: () => 0, after: () => () => undefined };
  const emit = (run: TraceRun): void => void out.push(run);
  const start = (): Assembler => createAssembler(ASSEMBLE_LIMITS, { clock, quietUntil: () => 0, emit });
  let assembler = start();
  const formatId = (at: number): string => String(at + 1).padStart(16, "0");
  for (const step of order) {
    if (step === "release" || step === "restart") {
      assembler.drain();
      if (step === "restart") assembler = start();
      if (step === "restart") for (const run of out) assembler.recall(toDecision(run));
      continue;
    }
    const at = typeof step === "number" ? step : step.amend;
    const parent = parents[at] ?? at - 1;
    const span = {
      ...buildSpan((typeof step === "number" ? spans[at] : step.by) ?? {}),
      spanId: formatId(at),
      parentSpanId: parent < 0 ? "" : formatId(parent),
    };
    assembler.add(translate(span, CONTEXT));
  }
  return [...new Map(out.map((run) => [run.span.spanId, run])).values()].toSorted((a, b) =>
    a.span.spanId.localeCompare(b.span.spanId),
  );
}

interface Costs {
  readonly total_cost?: number;
}

interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** As the backend reads it: in the outputs or in the metadata. */
function readUsage({ content }: TraceRun, name: string): readonly [number, number] | null {
  const { metadata } = JSON.parse(content.extra) as { readonly metadata: Readonly<Record<string, Usage>> };
  const outputs = (content.outputs === "" ? {} : JSON.parse(content.outputs)) as Readonly<Record<string, Usage>>;
  const usage = metadata[name] ?? outputs[name];
  return usage === undefined ? null : [usage.input_tokens, usage.output_tokens];
}
const counted = (run: TraceRun): readonly [number, number] | null => readUsage(run, "usage_metadata");

describe("a call that two instrumentations see", () => {
  for (const [outerName, outer] of Object.entries(DIALECTS))
    for (const [innerName, inner] of Object.entries(DIALECTS))
      test(`counts once: ${outerName} around ${innerName}`, () => {
        for (const order of [
          [0, 1],
          [1, 0],
        ]) {
          const [above, below] = place([outer(100, 20), inner(100, 20)], order) as [TraceRun, TraceRun];
          assert.deepEqual(counted(above), [100, 20]);
          assert.equal(counted(below), null);
          assert.deepEqual(readUsage(below, "usage_counted_above"), [100, 20]);
        }
      });

  const call = DIALECTS["GenAI conventions"] as Call;
  const priced = (input: number, output: number): GivenSpan => ({
    name: "chat gpt-5",
    attributes: { ...call(input, output).attributes, "gen_ai.usage.cost": 0.5 },
  });
  const COSTS: readonly (readonly [string, readonly GivenSpan[], readonly (number | undefined)[]])[] = [
    ["which only the inner one knows", [call(5, 2), priced(5, 2)], [undefined, 0.5]],
    ["which both know", [priced(5, 2), priced(5, 2)], [0.5, undefined]],
    ["which only the outer one knows", [priced(5, 2), call(5, 2)], [0.5, undefined]],
  ];
  for (const [name, spans, wanted] of COSTS)
    test(`counts a cost once, ${name}`, () => {
      const costs = place(spans, [0, 1]).map(({ content }) => {
        const { metadata } = JSON.parse(content.extra) as { readonly metadata: Readonly<Record<string, Costs>> };
        return metadata["usage_metadata"]?.total_cost;
      });
      assert.deepEqual(costs, wanted);
    });

  const silent: GivenSpan = { name: "chat gpt-5", attributes: { "gen_ai.operation.name": "chat" } };
  const LATE: readonly (readonly [string, readonly GivenSpan[], readonly Step[], readonly boolean[]])[] = [
    [
      "when the tokens of the outer one come after the inner one",
      [silent, CHAIN, call(5, 2)],
      [0, 1, 2, { amend: 0, by: call(5, 2) }],
      [false, false, true],
    ],
    [
      "when the tokens of the outer one come before the inner one",
      [silent, call(5, 2)],
      [0, { amend: 0, by: call(5, 2) }, 1],
      [true, false],
    ],
    [
      "when the outer one comes after the wait of the inner one",
      [call(5, 2), call(5, 2)],
      [1, "release", 0],
      [false, true],
    ],
    [
      "when the inner one comes after a restart",
      [call(5, 2), CHAIN, call(5, 2)],
      [0, 1, "restart", 2],
      [true, false, false],
    ],
    [
      "when a second one comes after a restart",
      [call(5, 2), call(5, 2), call(5, 2)],
      [0, 1, "restart", 2],
      [true, false, false],
    ],
    [
      "when its tokens come after a restart",
      [silent, call(5, 2)],
      [0, 1, "restart", { amend: 0, by: call(5, 2) }],
      [false, true],
    ],
    ["and other tokens are another call", [silent, call(5, 2)], [0, 1, { amend: 0, by: call(5, 3) }], [true, true]],
  ];
  for (const [name, spans, steps, wanted] of LATE)
    test(`counts once ${name}`, () => {
      const runs = place(spans, steps);
      assert.deepEqual(
        runs.map((run) => counted(run) !== null),
        wanted,
      );
      const below = runs.map((run) => readUsage(run, "usage_counted_below"));
      assert.deepEqual(below[0], wanted[0] === true ? null : [5, 2]);
    });

  const CASES: readonly (readonly [string, readonly GivenSpan[], readonly number[], readonly boolean[]])[] = [
    ["three times, it counts once", [call(5, 2), call(5, 2), call(5, 2)], [], [true, false, false]],
    ["with a chain between, it counts once", [call(5, 2), CHAIN, call(5, 2)], [], [true, false, false]],
    ["calls with other tokens are other calls", [call(5, 2), call(5, 3)], [], [true, true]],
    ["a second one below it is another call", [call(5, 2), call(5, 2), call(5, 2)], [-1, 0, 0], [true, false, true]],
    ["what its tool calls is another call", [call(5, 2), TOOL, call(5, 2)], [], [true, false, true]],
    ["siblings are two calls", [CHAIN, call(5, 2), call(5, 2)], [-1, 0, 0], [false, true, true]],
    ["an embedding counts once", [EMBEDDING, EMBEDDING], [], [true, false]],
    ["without tokens of the answer nothing is compared", [call(5, 0), call(5, 0)], [], [true, true]],
  ];
  for (const [name, spans, parents, wanted] of CASES)
    test(name, () => {
      for (const order of [spans.map((_, at) => at), spans.map((_, at) => spans.length - 1 - at)]) {
        const counts = place(spans, order, parents).map((run) => counted(run) !== null);
        // Of two below one call the first that comes is its twin.
        assert.deepEqual(
          name.startsWith("a second") ? counts.filter(Boolean).length : counts,
          name.startsWith("a second") ? wanted.filter(Boolean).length : wanted,
        );
      }
    });
});
