// LiteLLM 1.80 (its `otel` callback) and OpenLIT 1.36: names outside the conventions.
import { describe } from "node:test";
import { table } from "../testkit.ts";

describe("LiteLLM", () => {
  table([
    {
      name: "costs, and the operation of an asynchronous call",
      span: {
        name: "litellm_request",
        attributes: {
          "llm.request.type": "acompletion",
          "gen_ai.request.model": "gpt-5",
          "gen_ai.usage.input_tokens": 10,
          "gen_ai.usage.output_tokens": 4,
          "gen_ai.cost.input_cost": 0.1,
          "gen_ai.cost.output_cost": 0.2,
          "gen_ai.cost.total_cost": 0.3,
        },
      },
      run: {
        type: "llm",
        usage: {
          input_tokens: 10,
          output_tokens: 4,
          total_tokens: 14,
          input_cost: 0.1,
          output_cost: 0.2,
          total_cost: 0.3,
        },
      },
    },
    {
      name: "blocks, calls and messages as Python prints them",
      span: {
        name: "litellm_request",
        attributes: {
          "llm.request.type": "completion",
          "gen_ai.prompt.0.role": "user",
          "gen_ai.prompt.0.content":
            "[{'type': 'text', 'text': \"What's this?\", 'cache_control': None}, {'type': 'image_url', 'image_url': {'url': 'https://x/1.png'}}]",
          "gen_ai.completion.0.role": "assistant",
          "gen_ai.completion.0.content": "None",
          "gen_ai.completion.0.tool_calls":
            "[{'id': 'c1', 'type': 'function', 'function': {'name': 'look', 'arguments': '{\"deep\": true}'}}]",
        },
      },
      run: {
        type: "llm",
        inputs: {
          messages: [
            {
              role: "user",
              content: [
                { type: "text", text: "What's this?", cache_control: null },
                { type: "image_url", image_url: { url: "https://x/1.png" } },
              ],
            },
          ],
        },
        outputs: {
          messages: [
            {
              role: "assistant",
              content: "None",
              tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: '{"deep": true}' } }],
            },
          ],
        },
      },
    },
    {
      name: "the request as Python prints it, beside its messages",
      span: {
        attributes: {
          "openinference.span.kind": "LLM",
          "input.value": "[{'role': 'user', 'content': 'What is the weather in Rome?'}]",
          "llm.input_messages.0.message.role": "user",
          "llm.input_messages.0.message.content": "What is the weather in Rome?",
        },
      },
      run: {
        inputs: { messages: [{ role: "user", content: "What is the weather in Rome?" }] },
        metadata: { otel: { kind: "internal", scope: { version: "1.0" } } },
      },
    },
    {
      name: "the raw request below a call and its response, whose tokens the call has",
      span: {
        name: "raw_gen_ai_request",
        parent: "aaaaaaaaaaaaaaaa",
        attributes: {
          "llm.openai.model": "gpt-5",
          "llm.openai.messages": "[{'role': 'user', 'content': \"What's up?\"}]",
          "llm.openai.temperature": 0.2,
          "llm.openai.id": "chatcmpl-1",
          "llm.openai.choices": "[{'index': 0, 'message': {'role': 'assistant', 'content': 'Rain', 'refusal': None}}]",
          "llm.openai.service_tier": "None",
          "llm.openai.usage": "{'prompt_tokens': 9, 'completion_tokens': 4}",
        },
      },
      run: {
        type: "chain",
        inputs: { messages: [{ role: "user", content: "What's up?" }], model: "gpt-5", temperature: 0.2 },
        outputs: {
          messages: [{ role: "assistant", content: "Rain", refusal: null }],
          id: "chatcmpl-1",
          service_tier: null,
          usage: { prompt_tokens: 9, completion_tokens: 4 },
        },
        usage: null,
        metadata: {
          otel: { kind: "internal", scope: { version: "1.0" }, parent_span_id: "aaaaaaaaaaaaaaaa" },
        },
      },
    },
    {
      name: "the raw request of an embedding, without its vectors",
      span: {
        name: "raw_gen_ai_request",
        attributes: {
          "llm.azure.input": "['a', 'b']",
          "llm.azure.data":
            "[{'index': 0, 'embedding': [0.1, 0.2, 0.3, 0.4]}, {'index': 1, 'embedding': [0.1, 0.2, 0.3, 0.4]}]",
        },
      },
      run: {
        inputs: { input: ["a", "b"] },
        outputs: { embeddings: { count: 2, dimensions: 4 } },
      },
    },
    {
      name: "names of another sender's that look like a raw request",
      span: { attributes: { "llm.openai.region": "eu", "llm.openai.deployment": "d1" } },
      run: { inputs: {}, outputs: null },
    },
    {
      name: "an embedding",
      span: { attributes: { "llm.request.type": "aembedding", "gen_ai.request.model": "e" } },
      run: { type: "embedding" },
    },
    {
      name: "an embedding, said by its operation",
      span: { attributes: { "gen_ai.operation.name": "aembedding" } },
      run: { type: "embedding" },
    },
  ]);
});

describe("OpenLIT", () => {
  table([
    {
      name: "a workflow",
      span: {
        attributes: {
          "gen_ai.operation.name": "workflow",
          "gen_ai.workflow.input": '{"q":1}',
          "gen_ai.workflow.output": '{"a":2}',
        },
      },
      run: { type: "chain", inputs: { q: 1 }, outputs: { a: 2 } },
    },
    {
      name: "a retrieval",
      span: {
        attributes: {
          "gen_ai.operation.name": "retrieve",
          "gen_ai.retrieval.query": "rain",
          "gen_ai.retrieval.documents": '[{"content":"It rains."}]',
        },
      },
      run: {
        type: "retriever",
        inputs: { query: "rain" },
        outputs: { documents: [{ page_content: "It rains.", metadata: {}, type: "Document" }] },
      },
    },
    {
      name: "reasoning tokens",
      span: {
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.usage.output_tokens": 9,
          "gen_ai.usage.reasoning_tokens": 5,
        },
      },
      run: { usage: { output_tokens: 9, total_tokens: 9, output_token_details: { reasoning: 5 } } },
    },
  ]);
});
