// Session rules: how an event of a coding agent becomes a span: the name that the translator knows, and the attributes
// under their names in the conventions. An event without a rule keeps its name and its attributes.
// Sources: the monitoring page of Claude Code 2.1, `codex-rs/otel` of Codex 0.154, `docs/cli/telemetry.md` of Gemini
// CLI 0.67.

export interface SessionRule {
  /** Name of the span; without it the event's own. */
  readonly span?: string;
  /** `gen_ai.operation.name`. */
  readonly operation?: "chat" | "execute_tool";
  /** Attributes under another name. All others stay. */
  readonly renames: Readonly<Record<string, string>>;
  /** The event reports a failure. */
  readonly failed?: true;
}

const CLAUDE_COST = { cost_usd: "gen_ai.usage.cost" } as const;

const CODEX_CALL: SessionRule = {
  operation: "chat",
  renames: {
    "conversation.id": "gen_ai.conversation.id",
    model: "gen_ai.request.model",
    input_token_count: "gen_ai.usage.input_tokens",
    output_token_count: "gen_ai.usage.output_tokens",
    cached_token_count: "gen_ai.usage.cache_read.input_tokens",
    cache_write_token_count: "gen_ai.usage.cache_creation.input_tokens",
    reasoning_token_count: "gen_ai.usage.reasoning.output_tokens",
  },
};

const GEMINI_CALL: SessionRule = {
  operation: "chat",
  renames: {
    model: "gen_ai.request.model",
    input_token_count: "gen_ai.usage.input_tokens",
    output_token_count: "gen_ai.usage.output_tokens",
    cached_content_token_count: "gen_ai.usage.cache_read.input_tokens",
    thoughts_token_count: "gen_ai.usage.reasoning.output_tokens",
    response_text: "output.value",
  },
};

const SESSION_RULES: Readonly<Record<string, SessionRule>> = {
  "claude_code.user_prompt": { span: "claude_code.interaction", renames: { prompt: "user_prompt" } },
  "claude_code.api_request": { span: "claude_code.llm_request", renames: CLAUDE_COST },
  "claude_code.api_error": { span: "claude_code.llm_request", renames: CLAUDE_COST, failed: true },
  "claude_code.assistant_response": { renames: { response: "output.value" } },
  "claude_code.tool_result": { span: "claude_code.tool", renames: {} },

  "codex.conversation_starts": { renames: { "conversation.id": "gen_ai.conversation.id" } },
  "codex.user_prompt": { renames: { "conversation.id": "gen_ai.conversation.id", prompt: "input.value" } },
  "codex.sse_event": CODEX_CALL,
  "codex.websocket_event": CODEX_CALL,
  "codex.tool_result": {
    operation: "execute_tool",
    renames: {
      "conversation.id": "gen_ai.conversation.id",
      tool_name: "gen_ai.tool.name",
      call_id: "gen_ai.tool.call.id",
      arguments: "gen_ai.tool.call.arguments",
      output: "gen_ai.tool.call.result",
    },
  },

  "gemini_cli.user_prompt": { renames: { prompt: "input.value" } },
  "gemini_cli.api_request": { renames: { request_text: "input.value" } },
  "gemini_cli.api_response": GEMINI_CALL,
  "gemini_cli.api_error": { ...GEMINI_CALL, failed: true },
  "gemini_cli.tool_call": {
    operation: "execute_tool",
    renames: {
      function_name: "gen_ai.tool.name",
      function_args: "gen_ai.tool.call.arguments",
    },
  },
};

const NO_RULE: SessionRule = { renames: {} };

/** `name` is the full name of the event. */
export function findRule(name: string): SessionRule {
  return (Object.hasOwn(SESSION_RULES, name) ? SESSION_RULES[name] : undefined) ?? NO_RULE;
}
