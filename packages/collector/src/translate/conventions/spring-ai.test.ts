// Spring AI 2: observations of tool calls and vector stores, with content enabled.
import { describe } from "node:test";
import { table } from "../testkit.ts";

describe("Spring AI", () => {
  table([
    {
      name: "a tool call",
      span: {
        name: "tool_call weather",
        attributes: {
          "gen_ai.operation.name": "framework",
          "gen_ai.system": "spring_ai",
          "spring.ai.kind": "tool_call",
          "spring.ai.tool.definition.name": "weather",
          "spring.ai.tool.definition.description": "Tells the weather",
          "spring.ai.tool.definition.schema": '{"type":"object"}',
          "spring.ai.tool.call.id": "c1",
          "spring.ai.tool.call.arguments": '{"city":"Paris"}',
          "spring.ai.tool.call.result": '"rain"',
        },
      },
      run: {
        name: "weather",
        type: "tool",
        inputs: { city: "Paris" },
        outputs: { output: "rain" },
        params: {
          tool_name: "weather",
          tool_call_id: "c1",
          tool_description: "Tells the weather",
          tool_schema: { type: "object" },
        },
      },
    },
    {
      name: "a vector query",
      span: {
        name: "pg_vector query",
        attributes: {
          "spring.ai.kind": "vector_store",
          "db.system": "pg_vector",
          "db.vector.query.content": "rain",
          "db.vector.query.response.documents": '[{"id":"d1","content":"It rains."}]',
        },
      },
      run: {
        type: "retriever",
        inputs: { query: "rain" },
        outputs: { documents: [{ page_content: "It rains.", metadata: { id: "d1" }, type: "Document" }] },
      },
    },
    {
      name: "a chat client: its conversation",
      span: {
        attributes: {
          "gen_ai.operation.name": "framework",
          "spring.ai.kind": "chat_client",
          "spring.ai.chat.client.conversation.id": "c1",
        },
      },
      run: { type: "chain", metadata: { thread_id: "c1" } },
    },
  ]);
});
