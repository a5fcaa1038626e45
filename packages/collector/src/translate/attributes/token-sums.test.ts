// Reasoning that the sender counts apart from the output: only its own total tells, or more reasoning than output.
import { describe } from "node:test";
import { table, type Case, type Given } from "../testkit.ts";

type Usage = readonly [input: number, output: number, total: number];

const sums = (name: string, attributes: Given, [input, output, total]: Usage): Case => ({
  name,
  span: { attributes: { "gen_ai.operation.name": "chat", ...attributes } },
  run: { usage: { input_tokens: input, output_tokens: output, total_tokens: total, ...DETAILS[name] } },
});

const DETAILS: Readonly<Record<string, object>> = {
  "more reasoning than output": { output_token_details: { reasoning: 20 } },
  "a total below": { output_token_details: { reasoning: 20 } },
  "cache and reasoning on top": { input_token_details: { cache_read: 1 }, output_token_details: { reasoning: 2 } },
  "no reasoning": { output_token_details: { reasoning: 0 } },
};
const REASONING = { output_token_details: { reasoning: 2 } };
const withReasoning = (one: Case): Case => ({ ...one, run: { usage: { ...one.run.usage, ...REASONING } } });

const adk = (more: object): Given => ({
  "gcp.vertex.agent.llm_response": JSON.stringify({
    content: { role: "model", parts: [{ text: "Rain." }] },
    usage_metadata: { prompt_token_count: 3, candidates_token_count: 4, thoughts_token_count: 2, ...more },
  }),
});
const genkit = (more: object): Given => ({
  "genkit:metadata:subtype": "model",
  "genkit:output": JSON.stringify({
    message: { role: "model", content: [{ text: "Rain." }] },
    usage: { inputTokens: 3, outputTokens: 4, thoughtsTokens: 2, ...more },
  }),
});
const counts = (output: bigint, reasoning: bigint, total?: bigint): Given => ({
  "gen_ai.usage.input_tokens": 3n,
  "gen_ai.usage.output_tokens": output,
  "gen_ai.usage.reasoning.output_tokens": reasoning,
  ...(total === undefined ? {} : { "gen_ai.usage.total_tokens": total }),
});
const { "gen_ai.usage.total_tokens": _total, ...CLI } = counts(4n, 2n);

describe("sums of tokens", () => {
  table(
    [
      sums("ADK", adk({ total_token_count: 9 }), [3, 6, 9]),
      sums("ADK, prompts of tools", adk({ tool_use_prompt_token_count: 1, total_token_count: 10 }), [3, 6, 10]),
      sums("ADK, reasoning inside", adk({ total_token_count: 7 }), [3, 4, 7]),
      sums("ADK without a total", adk({}), [3, 4, 7]),
      sums("Genkit", genkit({ totalTokens: 9 }), [3, 6, 9]),
      sums("Genkit, reasoning inside", genkit({ totalTokens: 7 }), [3, 4, 7]),
      sums("Gemini CLI", { ...CLI, tool_token_count: 1n, total_token_count: 10n }, [3, 6, 10]),
      sums("conventions", counts(4n, 2n, 9n), [3, 6, 9]),
      sums("conventions, reasoning inside", counts(4n, 2n, 7n), [3, 4, 7]),
    ].map(withReasoning),
  );
  table([
    sums("more reasoning than output", counts(4n, 20n, 27n), [3, 24, 27]),
    sums("a total below", counts(4n, 20n, 7n), [3, 24, 27]),
    sums(
      "cache and reasoning on top",
      { ...counts(4n, 2n, 10n), "gen_ai.usage.cache_read.input_tokens": 1n },
      [4, 6, 10],
    ),
    sums("no reasoning", counts(4n, 0n, 9n), [3, 4, 9]),
  ]);
});
