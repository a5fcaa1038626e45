// OpenLLMetry (Traceloop): flattened prompts, workflow entities, association properties.
import { describe } from "node:test";
import { table } from "../testkit.ts";

describe("OpenLLMetry", () => {
  table([
    {
      name: "a chat with flattened prompts, tool calls and functions",
      span: {
        name: "openai.chat",
        scope: "opentelemetry.instrumentation.openai.v1",
        attributes: {
          "llm.request.type": "chat",
          "gen_ai.system": "OpenAI",
          "gen_ai.request.model": "gpt-4o-mini",
          "gen_ai.response.model": "gpt-4o-mini-2024-07-18",
          "llm.frequency_penalty": 0.1,
          "gen_ai.prompt.0.role": "system",
          "gen_ai.prompt.0.content": "Be short.",
          "gen_ai.prompt.2.role": "tool",
          "gen_ai.prompt.2.content": "rain",
          "gen_ai.prompt.2.tool_call_id": "c1",
          "gen_ai.prompt.1.role": "assistant",
          "gen_ai.prompt.1.tool_calls.0.id": "c1",
          "gen_ai.prompt.1.tool_calls.0.name": "weather",
          "gen_ai.prompt.1.tool_calls.0.arguments": '{"city":"Paris"}',
          "gen_ai.completion.0.role": "assistant",
          "gen_ai.completion.0.content": "Rain.",
          "gen_ai.completion.0.finish_reason": "stop",
          "llm.request.functions.0.name": "weather",
          "llm.request.functions.0.description": "The weather",
          "llm.request.functions.0.parameters": '{"type":"object"}',
          "gen_ai.usage.prompt_tokens": 20,
          "gen_ai.usage.completion_tokens": 2,
          "llm.usage.total_tokens": 22,
          "gen_ai.usage.cache_read_input_tokens": 8,
          "traceloop.association.properties.user_id": "u1",
          "traceloop.association.properties.chat_id": "t1",
        },
      },
      run: {
        name: "openai.chat",
        type: "llm",
        inputs: {
          messages: [
            { role: "system", content: "Be short." },
            {
              role: "assistant",
              content: "",
              tool_calls: [
                { id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Paris"}' } },
              ],
            },
            { role: "tool", content: "rain", tool_call_id: "c1" },
          ],
        },
        outputs: { messages: [{ role: "assistant", content: "Rain.", finish_reason: "stop" }] },
        params: {
          frequency_penalty: 0.1,
          tools: [
            {
              type: "function",
              function: { name: "weather", description: "The weather", parameters: { type: "object" } },
            },
          ],
        },
        usage: { input_tokens: 20, output_tokens: 2, total_tokens: 22, input_token_details: { cache_read: 8 } },
        metadata: { ls_provider: "openai", user_id: "u1", thread_id: "t1", chat_id: "t1" },
      },
    },
    {
      name: "flattened messages with a gap, as the 128-attribute limit cuts them",
      span: {
        attributes: { "llm.request.type": "chat", "gen_ai.prompt.0.content": "a", "gen_ai.prompt.7.content": "b" },
      },
      run: {
        inputs: {
          messages: [
            { role: "user", content: "a" },
            { role: "user", content: "b" },
          ],
        },
      },
    },
    {
      name: "a workflow's content is in its entity",
      span: {
        name: "joke.workflow",
        attributes: {
          "traceloop.span.kind": "workflow",
          "traceloop.entity.name": "joke",
          "traceloop.workflow.name": "joke",
          "traceloop.entity.input": '{"args": [], "kwargs": {"topic": "tea"}}',
          "traceloop.entity.output": '"Why did the tea…"',
        },
      },
      run: {
        name: "joke",
        type: "chain",
        inputs: { args: [], kwargs: { topic: "tea" } },
        outputs: { text: "Why did the tea…" },
        metadata: { workflow_name: "joke" },
      },
    },
    {
      name: "a tool entity",
      span: {
        attributes: {
          "traceloop.span.kind": "tool",
          "traceloop.entity.name": "search",
          "traceloop.entity.input": '{"q":"tea"}',
          "traceloop.entity.output": '{"hits":3}',
        },
      },
      run: { name: "search", type: "tool", inputs: { q: "tea" }, outputs: { hits: 3 } },
    },
    {
      name: "rerank and embedding requests, and a type that says nothing",
      span: { attributes: { "llm.request.type": "rerank", "reranker.query": "tea" } },
      run: { type: "retriever", inputs: { query: "tea" } },
    },
    {
      name: "an unknown request type leaves the decision to the entity",
      span: { attributes: { "llm.request.type": "unknown", "traceloop.span.kind": "tool" } },
      run: { type: "tool" },
    },
    {
      name: "an embedding's text in a flattened prompt",
      span: { attributes: { "llm.request.type": "embedding", "gen_ai.prompt.0.content": "tea" } },
      run: { type: "embedding", inputs: { input: "tea" } },
    },
    {
      name: "the newer form: messages as JSON text",
      span: {
        name: "openai.chat",
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.provider.name": "openai",
          "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"Hi"}]}]',
          "gen_ai.output.messages":
            '[{"role":"assistant","parts":[{"type":"tool_call","id":"c","name":"f","arguments":{}}],"finish_reason":"tool_call"}]',
        },
      },
      run: {
        inputs: { messages: [{ role: "user", content: "Hi" }] },
        outputs: {
          messages: [
            {
              role: "assistant",
              content: "",
              finish_reason: "tool_call",
              tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
            },
          ],
        },
      },
    },
    {
      name: "documents of a vector search are in events",
      span: {
        name: "chroma.query",
        attributes: { "gen_ai.operation.name": "vector_db_retrieve" },
        events: [
          {
            name: "db.query.result",
            attributes: { "db.query.result.id": "d1", "db.query.result.document": "It rains." },
          },
        ],
      },
      run: {
        type: "retriever",
        outputs: {
          documents: [{ page_content: "It rains.", metadata: { id: "d1" }, type: "Document" }],
        },
      },
    },
    {
      name: "an MCP tool's answer, instrumentation-mcp 0.62",
      span: {
        name: "add.tool",
        attributes: {
          "traceloop.span.kind": "tool",
          "traceloop.entity.name": "add",
          "mcp.method.name": "tools/call",
          "mcp.request.argument": '{"a":1}',
          "mcp.response.value": '{"sum":2}',
        },
      },
      run: { name: "add", type: "tool", inputs: { a: 1 }, outputs: { sum: 2 } },
    },
    {
      name: "a crew, instrumentation-crewai 0.62",
      span: {
        name: "crewai.workflow",
        attributes: {
          "traceloop.span.kind": "workflow",
          "crewai.crew.result": "Done.",
          "crewai.crew.tasks_output": "[TaskOutput(description='write')]",
        },
      },
      run: {
        type: "chain",
        outputs: { output: "Done." },
        metadata: {
          otel: {
            kind: "internal",
            scope: { version: "1.0" },
            attributes: {
              "traceloop.span.kind": "workflow",
              "crewai.crew.tasks_output": "[TaskOutput(description='write')]",
            },
          },
        },
      },
    },
    {
      name: "a managed prompt: name and version",
      span: {
        attributes: { "llm.request.type": "chat", "traceloop.prompt.key": "greet", "traceloop.prompt.version": 3 },
      },
      run: { metadata: { prompt_name: "greet", prompt_version: 3 } },
    },
    {
      name: "Milvus: the results of a search",
      span: {
        name: "milvus.search",
        events: [
          {
            name: "db.search.result",
            attributes: {
              "db.search.result.id": "7",
              "db.search.result.distance": "0.11",
              "db.search.result.entity": "Text",
            },
          },
        ],
      },
      run: {
        outputs: {
          documents: [{ page_content: "Text", metadata: { id: "7", distance: "0.11" }, type: "Document" }],
        },
        events: null,
      },
    },
    {
      name: "a task of CrewAI",
      span: {
        attributes: {
          "traceloop.span.kind": "task",
          "crewai.task.description": "Research",
          "crewai.task.output": "A list",
        },
      },
      run: { type: "chain", inputs: { input: "Research" }, outputs: { output: "A list" } },
    },
    {
      name: "a task in CrewAI's own telemetry",
      span: { name: "Task Execution", attributes: { formatted_description: "Research", task_output: "A list" } },
      run: { inputs: { input: "Research" }, outputs: { output: "A list" } },
    },
  ]);
});
