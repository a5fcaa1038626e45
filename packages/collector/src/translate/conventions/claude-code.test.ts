// Claude Code and the Claude Agent SDK: flat attributes without prefix, recognised by the span's name.
import { describe } from "node:test";
import { table } from "../testkit.ts";

describe("Claude Code", () => {
  table([
    {
      name: "2.1.266: the cache is outside of input_tokens also when it is smaller",
      span: {
        name: "claude_code.llm_request",
        attributes: { input_tokens: 1000, output_tokens: 5, cache_read_tokens: 200, new_context: "What now?" },
      },
      run: {
        inputs: { input: "What now?" },
        usage: { input_tokens: 1200, output_tokens: 5, total_tokens: 1205, input_token_details: { cache_read: 200 } },
      },
    },
    {
      name: "2.1.266: a tool that failed says so in its attributes",
      span: {
        name: "claude_code.tool.execution",
        attributes: { "span.type": "tool", success: false, error: "no such file" },
      },
      run: { type: "tool", error: "no such file" },
    },
    {
      name: "a model request: provider from the name, tokens counted apart from the cache",
      span: {
        name: "claude_code.llm_request",
        scope: "com.anthropic.claude_code.tracing",
        attributes: {
          "span.type": "llm_request",
          "session.id": "s1",
          model: "claude-sonnet-4-5",
          input_tokens: 2,
          output_tokens: 120,
          cache_read_tokens: 8000,
          cache_creation_tokens: 500,
          stop_reason: "tool_use",
          ttft_ms: 900,
          "response.model_output": "Let me look.",
        },
      },
      run: {
        name: "claude_code.llm_request",
        type: "llm",
        inputs: {},
        outputs: { output: "Let me look." },
        usage: {
          input_tokens: 8502,
          output_tokens: 120,
          total_tokens: 8622,
          input_token_details: { cache_read: 8000, cache_creation: 500 },
        },
        metadata: {
          ls_provider: "anthropic",
          ls_model_name: "claude-sonnet-4-5",
          thread_id: "s1",
          finish_reasons: "tool_use",
        },
        events: [{ name: "new_token", time: "2025-11-21T09:00:01.023456789Z" }],
      },
    },
    {
      name: "an interaction with the user's prompt",
      span: { name: "claude_code.interaction", attributes: { "span.type": "interaction", user_prompt: "Fix it" } },
      run: { type: "chain", inputs: { input: "Fix it" } },
    },
    {
      name: "a tool",
      span: {
        name: "claude_code.tool",
        attributes: { "span.type": "tool", tool_name: "Bash", tool_use_id: "toolu_1", tool_input: '{"command":"ls"}' },
      },
      run: {
        name: "Bash",
        type: "tool",
        inputs: { command: "ls" },
        params: { tool_name: "Bash", tool_call_id: "toolu_1" },
      },
    },
    {
      name: "a part of a tool's work is a tool too",
      span: { name: "claude_code.tool.execution" },
      run: { name: "claude_code.tool.execution", type: "tool" },
      options: { filterNonGenAi: true },
    },
    {
      name: "a tool without its input: the command, and the event of its output",
      span: {
        name: "claude_code.tool",
        attributes: { "span.type": "tool", tool_name: "Bash", full_command: "ls" },
        events: [{ name: "tool.output", attributes: { content: "a.txt" } }],
      },
      run: { type: "tool", inputs: { full_command: "ls" }, outputs: { content: "a.txt" }, events: null },
    },
    {
      name: "a tool without its input: the file",
      span: { name: "claude_code.tool", attributes: { "span.type": "tool", tool_name: "Read", file_path: "/a.ts" } },
      run: { type: "tool", inputs: { file_path: "/a.ts" } },
    },
    {
      name: "the output of a tool on another span stays an event",
      span: {
        name: "claude_code.interaction",
        attributes: { user_prompt: "Hi" },
        events: [{ name: "tool.output", at: 0, attributes: { content: "a.txt" } }],
      },
      run: {
        inputs: { input: "Hi" },
        events: [{ name: "tool.output", time: "2025-11-21T09:00:00.000000000Z", attributes: { content: "a.txt" } }],
      },
    },
  ]);
});
