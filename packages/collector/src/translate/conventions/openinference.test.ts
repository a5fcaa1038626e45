// OpenInference (Arize): flattened llm.*, span kinds in capitals, mime types, JSON inside strings.
import { describe } from "node:test";
import { table } from "../testkit.ts";

describe("OpenInference", () => {
  table([
    {
      name: "tokens of an answer of smolagents, at its message",
      span: {
        attributes: {
          "openinference.span.kind": "LLM",
          "output.value": '{"role":"assistant","content":"Hello","token_usage":{"input_tokens":3,"output_tokens":2}}',
        },
      },
      run: { usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 } },
    },
    {
      name: "tokens of an answer with a tool that the model's API ran, at its last message",
      span: {
        attributes: {
          "openinference.span.kind": "LLM",
          "output.value":
            '{"messages":[{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"look","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":"x"},{"type":"text","text":"Hello"}],"usage_metadata":{"input_tokens":3,"output_tokens":2}}]}',
        },
      },
      run: { usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 } },
    },
    {
      name: "members beside the messages of request and answer stay (langchain 4.1.1)",
      span: {
        attributes: {
          "openinference.span.kind": "LLM",
          "llm.input_messages.0.message.role": "user",
          "llm.input_messages.0.message.content": "Weather?",
          "llm.invocation_parameters": '{"temperature":0.5}',
          "input.value": JSON.stringify({
            messages: [[{ lc: 1, type: "constructor", id: ["HumanMessage"], kwargs: { content: "Weather?" } }]],
            temperature: 0.5,
            run: "r1",
          }),
          "llm.output_messages.0.message.role": "assistant",
          "llm.output_messages.0.message.content": "",
          "output.value": JSON.stringify({
            generations: [
              [
                {
                  text: "",
                  generationInfo: { finish_reason: "stop" },
                  message: {
                    lc: 1,
                    type: "constructor",
                    id: ["langchain_core", "messages", "AIMessage"],
                    kwargs: {
                      content: "",
                      additional_kwargs: {},
                      response_metadata: { model_name: "gpt-5-2026" },
                      tool_calls: [{ id: "c1", name: "f", args: {} }],
                    },
                  },
                },
              ],
            ],
            llmOutput: { tokenUsage: { totalTokens: 18 } },
          }),
        },
      },
      run: {
        inputs: { run: "r1", messages: [{ role: "user", content: "Weather?" }] },
        outputs: {
          llmOutput: { tokenUsage: { totalTokens: 18 } },
          messages: [
            {
              role: "assistant",
              content: "",
              generationInfo: { finish_reason: "stop" },
              response_metadata: { model_name: "gpt-5-2026" },
              tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
            },
          ],
        },
        params: { temperature: 0.5 },
      },
    },
    {
      name: "the request completes flattened messages: system, image and calls (openai 4.2.7)",
      span: {
        attributes: {
          "openinference.span.kind": "LLM",
          "llm.model_name": "gpt-5",
          "llm.input_messages.0.message.role": "user",
          "llm.input_messages.0.message.content": "Look",
          "input.value": JSON.stringify({
            model: "gpt-5",
            messages: [
              { role: "system", content: "Be kind." },
              {
                role: "user",
                content: [
                  { type: "text", text: "Look" },
                  { type: "image_url", image_url: { url: "u" } },
                ],
              },
            ],
          }),
          "llm.output_messages.0.message.role": "assistant",
          "output.value": JSON.stringify({
            choices: [
              {
                message: {
                  role: "assistant",
                  content: null,
                  tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
                },
              },
            ],
          }),
          "llm.finish_reason": "tool_calls",
          "openinference.project.name": "mine",
        },
      },
      run: {
        inputs: {
          messages: [
            { role: "system", content: "Be kind." },
            {
              role: "user",
              content: [
                { type: "text", text: "Look" },
                { type: "image_url", image_url: { url: "u" } },
              ],
            },
          ],
        },
        outputs: {
          messages: [
            {
              role: "assistant",
              content: "",
              tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
            },
          ],
        },
        metadata: { finish_reasons: "tool_calls" },
        project: "mine",
      },
    },
    {
      name: "messages as LangChain serialises them (langchain 4.1.1)",
      span: {
        attributes: {
          "openinference.span.kind": "LLM",
          "llm.input_messages.0.message.role": "user",
          "llm.input_messages.0.message.content": "Hi",
          "input.value": JSON.stringify({
            messages: [[{ lc: 1, type: "constructor", id: ["m", "HumanMessage"], kwargs: { content: "Hi" } }]],
          }),
          "llm.output_messages.0.message.role": "assistant",
          "llm.output_messages.0.message.content": "",
          "output.value": JSON.stringify({
            generations: [
              [
                {
                  message: {
                    lc: 1,
                    type: "constructor",
                    id: ["m", "AIMessage"],
                    kwargs: { content: "", tool_calls: [{ id: "c1", name: "f", args: { a: 1 } }] },
                  },
                },
              ],
            ],
          }),
        },
      },
      run: {
        inputs: { messages: [{ role: "user", content: "Hi" }] },
        outputs: {
          messages: [
            {
              role: "assistant",
              content: "",
              tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: '{"a":1}' } }],
            },
          ],
        },
      },
    },
    {
      name: "a tool's arguments come before the schema in tool.parameters",
      span: {
        attributes: {
          "openinference.span.kind": "TOOL",
          "tool.name": "f",
          "tool.parameters": '{"type":"object"}',
          "input.value": '{"a":1}',
        },
      },
      run: { inputs: { a: 1 } },
    },
    {
      name: "a model call with tools, an image and token details",
      span: {
        name: "ChatCompletion",
        scope: "openinference.instrumentation.openai",
        attributes: {
          "openinference.span.kind": "LLM",
          "llm.provider": "openai",
          "llm.system": "openai",
          "llm.model_name": "gpt-4o",
          "llm.invocation_parameters": '{"temperature": 0.3, "max_tokens": 10}',
          "input.value": '{"messages": []}',
          "input.mime_type": "application/json",
          "output.value": "{}",
          "llm.input_messages.0.message.role": "user",
          "llm.input_messages.0.message.contents.0.message_content.type": "text",
          "llm.input_messages.0.message.contents.0.message_content.text": "What is this?",
          "llm.input_messages.0.message.contents.1.message_content.type": "image",
          "llm.input_messages.0.message.contents.1.message_content.image.image.url": "https://x.example/a.png",
          "llm.output_messages.0.message.role": "assistant",
          "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
          "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "look",
          "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"x": 1}',
          "llm.tools.0.tool.json_schema": '{"type": "function", "function": {"name": "look"}}',
          "llm.token_count.prompt": 100,
          "llm.token_count.completion": 20,
          "llm.token_count.total": 120,
          "llm.token_count.prompt_details.cache_read": 64,
          "llm.token_count.completion_details.reasoning": 10,
          "llm.token_count.completion_details.audio": 1,
          "llm.cost.prompt": 0.1,
          "llm.cost.completion": 0.2,
          "llm.cost.total": 0.3,
          "session.id": "s1",
          "user.id": "u1",
          "tag.tags": ["a", "b"],
          metadata: '{"team": "core", "ls_provider": "forged"}',
        },
      },
      run: {
        type: "llm",
        inputs: {
          messages: [
            {
              role: "user",
              content: [
                { type: "text", text: "What is this?" },
                { type: "image_url", image_url: { url: "https://x.example/a.png" } },
              ],
            },
          ],
        },
        outputs: {
          messages: [
            {
              role: "assistant",
              content: "",
              tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: '{"x": 1}' } }],
            },
          ],
        },
        params: {
          temperature: 0.3,
          max_tokens: 10,
          model: "gpt-4o",
          tools: [{ type: "function", function: { name: "look" } }],
        },
        usage: {
          input_tokens: 100,
          output_tokens: 20,
          total_tokens: 120,
          input_token_details: { cache_read: 64 },
          output_token_details: { reasoning: 10, audio: 1 },
          input_cost: 0.1,
          output_cost: 0.2,
          total_cost: 0.3,
        },
        metadata: { ls_provider: "openai", ls_model_name: "gpt-4o", thread_id: "s1", user_id: "u1", team: "core" },
        tags: ["a", "b"],
      },
    },
    {
      name: "an agent's input and output values",
      span: { attributes: { "openinference.span.kind": "AGENT", "input.value": "Hi", "output.value": "Ho" } },
      run: { type: "chain", inputs: { input: "Hi" }, outputs: { text: "Ho" } },
    },
    {
      name: "a tool",
      span: {
        attributes: {
          "openinference.span.kind": "TOOL",
          "tool.name": "weather",
          "tool.parameters": '{"city": "Paris"}',
          "output.value": "rain",
        },
      },
      run: { name: "weather", type: "tool", inputs: { city: "Paris" }, outputs: { output: "rain" } },
    },
    {
      name: "a retriever: content alone makes a document",
      span: {
        attributes: {
          "openinference.span.kind": "RETRIEVER",
          "input.value": "tea",
          "retrieval.documents.0.document.id": "d1",
          "retrieval.documents.0.document.content": "Tea is hot.",
          "retrieval.documents.0.document.score": 0.5,
          "retrieval.documents.0.document.metadata": '{"page": 3}',
          "retrieval.documents.1.document.content": "Tea is green.",
        },
      },
      run: {
        type: "retriever",
        inputs: { query: "tea" },
        outputs: {
          documents: [
            { page_content: "Tea is hot.", metadata: { id: "d1", score: 0.5, page: 3 }, type: "Document" },
            { page_content: "Tea is green.", metadata: {}, type: "Document" },
          ],
        },
      },
    },
    {
      name: "a reranker keeps query, documents and ranking",
      span: {
        attributes: {
          "openinference.span.kind": "RERANKER",
          "reranker.query": "tea",
          "reranker.model_name": "r1",
          "reranker.input_documents.0.document.content": "a",
          "reranker.output_documents.0.document.content": "a",
          "reranker.output_documents.0.document.score": 1,
        },
      },
      run: {
        type: "retriever",
        inputs: { query: "tea", documents: [{ content: "a" }] },
        outputs: { documents: [{ page_content: "a", metadata: { score: 1 }, type: "Document" }] },
        metadata: { ls_model_name: "r1" },
      },
    },
    {
      name: "embeddings: texts in, number and length of vectors out",
      span: {
        attributes: {
          "openinference.span.kind": "EMBEDDING",
          "embedding.model_name": "e3",
          "embedding.embeddings.0.embedding.text": "tea",
          "embedding.embeddings.0.embedding.vector": [0.1, 0.2, 0.3],
        },
      },
      run: {
        type: "embedding",
        inputs: { input: "tea" },
        outputs: { embeddings: { count: 1, dimensions: 3 } },
        metadata: { ls_model_name: "e3" },
      },
    },
    {
      name: "a prompt span names its input by the variable that holds it",
      span: {
        attributes: {
          "llm.prompt_template.template": "Tell me about {topic}",
          "llm.prompt_template.variables": '{"topic": "tea"}',
          "input.value": "tea",
        },
      },
      run: { type: "prompt", inputs: { topic: "tea" } },
    },
    {
      name: "a model call that also names its template stays a model call",
      span: {
        attributes: {
          "openinference.span.kind": "LLM",
          "llm.model_name": "m",
          "llm.prompt_template.variables": "{}",
          "llm.prompts.0.prompt.text": "Tell me",
          "llm.choices.0.completion.text": "No",
        },
      },
      run: {
        type: "llm",
        inputs: { prompt: "Tell me" },
        outputs: { messages: [{ role: "assistant", content: "No" }] },
      },
    },
    {
      name: "metadata printed by Python is kept as text",
      span: { attributes: { "openinference.span.kind": "CHAIN", metadata: "{'team': 'core'}" } },
      run: { metadata: { metadata: "{'team': 'core'}" } },
    },
    {
      name: "semantic conventions 01638e2: a function call in the older form",
      span: {
        attributes: {
          "openinference.span.kind": "LLM",
          "llm.output_messages.0.message.role": "assistant",
          "llm.output_messages.0.message.function_call_name": "weather",
          "llm.output_messages.0.message.function_call_arguments_json": '{"city":"Paris"}',
        },
      },
      run: {
        outputs: {
          messages: [
            {
              role: "assistant",
              content: "",
              tool_calls: [{ type: "function", function: { name: "weather", arguments: '{"city":"Paris"}' } }],
            },
          ],
        },
      },
    },
    {
      name: "semantic conventions 01638e2: cached input, and what stands beside an image",
      span: {
        attributes: {
          "openinference.span.kind": "LLM",
          "llm.token_count.prompt": 100,
          "llm.token_count.prompt_details.cache_input": 33,
          "llm.input_messages.0.message.contents.0.message_content.type": "image",
          "llm.input_messages.0.message.contents.0.message_content.id": "item-1",
          "llm.input_messages.0.message.contents.0.message_content.image.image.url": "https://x/1.png",
        },
      },
      run: {
        usage: { input_tokens: 100, total_tokens: 100, input_token_details: { cache_read: 33 } },
        inputs: {
          messages: [
            {
              role: "user",
              content: [{ type: "image_url", image_url: { url: "https://x/1.png" }, id: "item-1" }],
            },
          ],
        },
      },
    },
    {
      name: "a value and longer names below it both stay",
      span: {
        attributes: {
          "openinference.span.kind": "LLM",
          "llm.input_messages.0.message.content": "Hi",
          "llm.input_messages.0.message.content.lang": "en",
        },
      },
      run: { inputs: { messages: [{ role: "user", content: { value: "Hi", lang: "en" } }] } },
    },
    {
      name: "a completion with more than its text",
      span: {
        attributes: {
          "openinference.span.kind": "LLM",
          "llm.choices.0.completion.text": "Once",
          "llm.choices.0.completion.finish_reason": "stop",
        },
      },
      run: { outputs: { messages: [{ role: "assistant", content: "Once", finish_reason: "stop" }] } },
    },
    {
      name: "a document whose metadata has the name of one of its own members",
      span: {
        attributes: {
          "openinference.span.kind": "RETRIEVER",
          "retrieval.documents.0.document.id": "d1",
          "retrieval.documents.0.document.content": "Text",
          "retrieval.documents.0.document.metadata": '{"id":"m1"}',
        },
      },
      run: {
        outputs: {
          documents: [{ page_content: "Text", metadata: { id: "d1", metadata: { id: "m1" } }, type: "Document" }],
        },
      },
    },
    {
      name: "an answer that says something else in the response stays beside the flattened one",
      span: {
        attributes: {
          "openinference.span.kind": "LLM",
          "llm.output_messages.0.message.role": "assistant",
          "llm.output_messages.0.message.content": "Short",
          "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
          "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "f",
          "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": "{}",
          "output.value": JSON.stringify({
            choices: [
              {
                message: {
                  role: "assistant",
                  content: "Long",
                  tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}", strict: "yes" } }],
                },
              },
            ],
          }),
        },
      },
      run: {
        outputs: {
          messages: [
            {
              role: "assistant",
              content: "Short",
              other_content: "Long",
              tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}", strict: "yes" } }],
            },
          ],
        },
      },
    },
  ]);
});
