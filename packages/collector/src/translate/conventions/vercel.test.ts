// Vercel AI SDK: ai.* attributes, an outer span per call and an inner one per model request.
import { describe } from "node:test";
import { table } from "../testkit.ts";

describe("Vercel AI SDK", () => {
  table([
    {
      name: "AI SDK 7 (@ai-sdk/otel 1.0.173): context, first chunk, reasoning and files",
      span: {
        attributes: {
          "ai.operationId": "ai.streamText.doStream",
          "ai.settings.context.threadId": "t1",
          "ai.settings.context.userId": "u1",
          "ai.settings.context.team": "core",
          "gen_ai.client.operation.time_to_first_chunk": 0.25,
          "ai.response.text": "See.",
          "ai.response.reasoning": "Hm.",
          "ai.response.files": '[{"type":"file","mediaType":"image/png","data":"AA=="}]',
        },
      },
      run: {
        type: "llm",
        outputs: {
          messages: [
            {
              role: "assistant",
              content: [
                { type: "reasoning", reasoning: "Hm." },
                { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
                { type: "text", text: "See." },
              ],
            },
          ],
        },
        events: [{ name: "new_token", time: "2025-11-21T09:00:00.373456789Z" }],
        metadata: { threadId: "t1", thread_id: "t1", user_id: "u1", team: "core" },
      },
    },
    {
      name: "AI SDK 7: a reranking",
      span: {
        attributes: {
          "gen_ai.operation.name": "rerank",
          "ai.documents": ['"It rains."', '"It snows."'],
          "ai.ranking.type": "text",
          "ai.ranking": ['{"originalIndex":1,"relevanceScore":0.9}'],
        },
      },
      run: {
        type: "retriever",
        inputs: { query: null, documents: ["It rains.", "It snows."] },
        outputs: {
          documents: [{ page_content: "", metadata: { originalIndex: 1, relevanceScore: 0.9 }, type: "Document" }],
        },
      },
    },
    {
      name: "the value of ai.embed",
      span: { attributes: { "ai.operationId": "ai.embed", "ai.value": '"rain"' } },
      run: { type: "chain", inputs: { input: "rain" } },
    },
    {
      name: "the inner span is the model's call",
      span: {
        name: "ai.streamText.doStream",
        scope: "ai",
        attributes: {
          "operation.name": "ai.streamText.doStream my-function",
          "ai.operationId": "ai.streamText.doStream",
          "ai.telemetry.functionId": "my-function",
          "ai.model.provider": "openai.chat",
          "ai.model.id": "gpt-4o",
          "ai.settings.maxRetries": 2,
          "ai.prompt.messages": JSON.stringify([
            { role: "system", content: "Be short." },
            { role: "user", content: [{ type: "text", text: "Weather?" }] },
            {
              role: "assistant",
              content: [{ type: "tool-call", toolCallId: "c1", toolName: "weather", input: { city: "Paris" } }],
            },
            {
              role: "tool",
              content: [
                {
                  type: "tool-result",
                  toolCallId: "c1",
                  toolName: "weather",
                  output: { type: "json", value: { sky: "rain" } },
                },
              ],
            },
          ]),
          "ai.prompt.tools": ['{"type":"function","name":"weather"}'],
          "ai.prompt.toolChoice": '{"type":"auto"}',
          "ai.response.text": "Rain.",
          "ai.response.toolCalls": '[{"toolCallId":"c2","toolName":"weather","input":"{}"}]',
          "ai.response.finishReason": "stop",
          "ai.response.id": "r1",
          "ai.response.model": "gpt-4o-2024-08-06",
          "ai.response.msToFirstChunk": 500,
          "ai.response.providerMetadata": '{"openai":{"cachedPromptTokens":16,"reasoningTokens":3}}',
          "ai.usage.promptTokens": 30,
          "ai.usage.completionTokens": 5,
          "gen_ai.usage.input_tokens": 30,
          "gen_ai.usage.output_tokens": 5,
          "gen_ai.system": "openai.chat",
          "gen_ai.request.model": "gpt-4o",
        },
      },
      run: {
        name: "ai.streamText.doStream",
        type: "llm",
        inputs: {
          messages: [
            { role: "system", content: "Be short." },
            { role: "user", content: [{ type: "text", text: "Weather?" }] },
            {
              role: "assistant",
              content: "",
              tool_calls: [
                { id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Paris"}' } },
              ],
            },
            { role: "tool", tool_call_id: "c1", name: "weather", content: '{"sky":"rain"}' },
          ],
        },
        outputs: {
          messages: [
            {
              role: "assistant",
              content: "Rain.",
              tool_calls: [{ id: "c2", type: "function", function: { name: "weather", arguments: "{}" } }],
            },
          ],
        },
        params: {
          model: "gpt-4o",
          tools: [{ type: "function", name: "weather" }],
          tool_choice: { type: "auto" },
          maxRetries: 2,
        },
        usage: {
          input_tokens: 30,
          output_tokens: 5,
          total_tokens: 35,
          input_token_details: { cache_read: 16 },
          output_token_details: { reasoning: 3 },
        },
        metadata: { ls_provider: "openai", ls_model_name: "gpt-4o-2024-08-06", finish_reasons: "stop" },
        events: [{ name: "new_token", time: "2025-11-21T09:00:00.623456789Z" }],
      },
    },
    {
      name: "the outer span is named after the function, and its usage is only a sum",
      span: {
        name: "ai.generateText",
        attributes: {
          "ai.operationId": "ai.generateText",
          "ai.telemetry.functionId": "my-function",
          "ai.telemetry.metadata.userId": "u1",
          "ai.telemetry.metadata.sessionId": "s1",
          "ai.telemetry.metadata.tags": ["x"],
          "ai.telemetry.metadata.ls_project_name": "shop",
          "ai.model.id": "gpt-4o",
          "ai.prompt": '{"system":"Be short.","prompt":"Weather?"}',
          "ai.response.text": "Rain.",
          "ai.usage.inputTokens": 30,
          "ai.usage.outputTokens": 5,
        },
      },
      run: {
        name: "my-function",
        type: "chain",
        inputs: {
          messages: [
            { role: "system", content: "Be short." },
            { role: "user", content: "Weather?" },
          ],
        },
        outputs: { messages: [{ role: "assistant", content: "Rain." }] },
        usage: null,
        metadata: {
          aggregate_usage: { input_tokens: 30, output_tokens: 5, total_tokens: 35 },
          user_id: "u1",
          thread_id: "s1",
        },
        tags: ["x"],
        project: "shop",
      },
    },
    {
      name: "a tool call",
      span: {
        name: "ai.toolCall",
        attributes: {
          "ai.operationId": "ai.toolCall",
          "ai.toolCall.name": "weather",
          "ai.toolCall.id": "c1",
          "ai.toolCall.args": '{"city":"Paris"}',
          "ai.toolCall.result": '"rain"',
        },
      },
      run: {
        name: "weather",
        type: "tool",
        inputs: { city: "Paris" },
        outputs: { output: "rain" },
        params: { tool_name: "weather", tool_call_id: "c1" },
      },
    },
    {
      name: "an object instead of text",
      span: {
        attributes: { "ai.operationId": "ai.generateObject.doGenerate", "ai.response.object": '{"city":"Paris"}' },
      },
      run: { type: "llm", outputs: { city: "Paris" } },
    },
    {
      name: "the names before version 4",
      span: {
        attributes: {
          "ai.operationId": "ai.generateText.doGenerate",
          "ai.result.text": "old",
          "ai.model.provider": "amazon-bedrock",
        },
      },
      run: {
        outputs: { messages: [{ role: "assistant", content: "old" }] },
        metadata: { ls_provider: "amazon_bedrock" },
      },
    },
    {
      name: "embeddings: values are JSON text, vectors are counted",
      span: {
        attributes: {
          "ai.operationId": "ai.embedMany.doEmbed",
          "ai.values": ['"tea"', '"rain"'],
          "ai.embeddings": ["[0.1,0.2]", "[0.3,0.4]"],
          "ai.usage.tokens": 4,
        },
      },
      run: {
        type: "embedding",
        inputs: { input: ["tea", "rain"] },
        outputs: { embeddings: { count: 2, dimensions: 2 } },
        usage: { input_tokens: 4, total_tokens: 4 },
      },
    },
    {
      name: "Anthropic's cache split in the provider's metadata",
      span: {
        attributes: {
          "ai.operationId": "ai.generateText.doGenerate",
          "ai.usage.inputTokens": 1000,
          "ai.usage.outputTokens": 10,
          "ai.response.providerMetadata": JSON.stringify({
            anthropic: {
              usage: {
                cache_read_input_tokens: 700,
                cache_creation_input_tokens: 100,
                cache_creation: { ephemeral_5m_input_tokens: 60, ephemeral_1h_input_tokens: 40 },
              },
            },
          }),
        },
      },
      run: {
        usage: {
          input_tokens: 1000,
          output_tokens: 10,
          total_tokens: 1010,
          input_token_details: {
            cache_read: 700,
            cache_creation: 100,
            ephemeral_5m_input_tokens: 60,
            ephemeral_1h_input_tokens: 40,
          },
        },
      },
    },
    {
      name: "5: Anthropic's input, which has its cache apart, beside that of the provider's metadata",
      span: {
        attributes: {
          "ai.operationId": "ai.generateText.doGenerate",
          "ai.usage.inputTokens": 4,
          "ai.usage.outputTokens": 2,
          "ai.response.providerMetadata": JSON.stringify({
            anthropic: {
              cacheCreationInputTokens: 3,
              usage: { input_tokens: 4, cache_read_input_tokens: 1, cache_creation_input_tokens: 3, output_tokens: 2 },
            },
          }),
        },
      },
      run: {
        usage: {
          input_tokens: 8,
          output_tokens: 2,
          total_tokens: 10,
          input_token_details: { cache_creation: 3, cache_read: 1 },
        },
      },
    },
    {
      name: "7 (053373b): speech and transcription",
      span: { attributes: { "gen_ai.operation.name": "ai.transcribe", "gen_ai.request.model": "whisper-1" } },
      run: { type: "llm", metadata: { ls_model_name: "whisper-1" } },
    },
    {
      name: "a file of the answer keeps its other members",
      span: {
        attributes: {
          "ai.operationId": "ai.generateText.doGenerate",
          "ai.response.files": '[{"type":"file","mediaType":"image/png","data":"https://x/1.png","filename":"cat"}]',
        },
      },
      run: {
        outputs: {
          messages: [
            {
              role: "assistant",
              content: [
                {
                  type: "image_url",
                  image_url: { url: "https://x/1.png" },
                  filename: "cat",
                  mime_type: "image/png",
                },
              ],
            },
          ],
        },
      },
    },
  ]);
});
