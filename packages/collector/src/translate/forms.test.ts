// Forms × places: each form of content, of any sender, at each place where content may stand.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { BLOCK_FORMS } from "./forms/block-forms.ts";
import { ENVELOPES } from "./forms/envelopes.ts";
import { translateContent, parsed, parseExtra, type GivenSpan } from "./testkit.ts";

const CALL = { id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } };
const calls = (): Json => ({ role: "assistant", content: "", tool_calls: [CALL] });
const runs = (): Json => ({
  role: "assistant",
  content: "",
  tool_calls: [
    {
      id: "c1",
      type: "function",
      function: { name: "code_execution", arguments: '{"language":"PYTHON","code":"print(1)"}' },
    },
  ],
});
const result = (more: JsonObject = {}): Json => ({ role: "tool", tool_call_id: "c1", content: "12 degrees", ...more });
const says = (...blocks: readonly Json[]): Json => ({ role: "assistant", content: blocks });
const thinks = (more: JsonObject = {}): Json => says({ type: "reasoning", reasoning: "Let me see", ...more });
const image = (url: string, more: JsonObject = {}): Json => says({ type: "image_url", image_url: { url }, ...more });
const URL = "https://example.com/a.png";
const ARGS = { city: "Rome" };
const BYTES = { type: "Buffer", data: [137, 80, 78, 71] };
const PNG = "data:image/png;base64,iVBORw==";

/** Form, part of a message, the message that it becomes. */
const PARTS: readonly (readonly [form: string, part: Json, becomes: Json])[] = [
  ["text", { type: "text", text: "Hi" }, says({ type: "text", text: "Hi" })],
  ["text", { text: { value: "Hi" } }, { role: "assistant", content: "Hi" }],
  [
    "text",
    { type: "text", text: { value: "Hi", annotations: [] } },
    says({ type: "text", text: "Hi", annotations: [] }),
  ],
  ["text", { text: "Hi" }, { role: "assistant", content: "Hi" }],
  ["text", { type: "text", content: "Hi" }, { role: "assistant", content: "Hi" }],
  ["text", { kind: "text", text: "Hi" }, { role: "assistant", content: "Hi" }],
  ["text", { block_type: "text", text: "Hi" }, { role: "assistant", content: "Hi" }],
  ["text", { type: "text-plain", text: "Hi" }, { role: "assistant", content: "Hi" }],
  ["text", { type: "TEXT", text: "Hi" }, { role: "assistant", content: "Hi" }],
  ["text", { $type: "text", text: "Hi" }, { role: "assistant", content: "Hi" }],
  ["text", { part_kind: "text", content: "Hi" }, { role: "assistant", content: "Hi" }],
  ["text", { type: "text", content: { text: { value: "Hi" } } }, { role: "assistant", content: "Hi" }],
  [
    "text",
    { guardContent: { text: { text: "Hi", qualifiers: ["query"] } } },
    says({ type: "text", text: "Hi", qualifiers: ["query"] }),
  ],
  [
    "text",
    { citationsContent: { content: [{ text: "Hi" }], citations: [{ title: "t" }] } },
    says({ type: "text", text: "Hi", citations: [{ title: "t" }] }),
  ],
  ["text", { type: "output_text", text: "Hi", annotations: [] }, says({ type: "text", text: "Hi", annotations: [] })],
  ["reasoning", { text: "Let me see", thought: true }, thinks()],
  [
    "reasoning",
    { reasoningContent: { reasoningText: { text: "Let me see", signature: "s" } } },
    thinks({ signature: "s" }),
  ],
  ["reasoning", { reasoning_content: { reasoning_text: { text: "Let me see" } } }, thinks()],
  ["reasoning", { reasoning: "Let me see" }, thinks()],
  ["reasoning", { type: "thinking", thinking: "Let me see", signature: "s" }, thinks({ signature: "s" })],
  ["reasoning", { type: "reasoning", content: "Let me see" }, thinks()],
  ["reasoning", { kind: "thinking", text: "Let me see" }, thinks()],
  [
    "reasoning",
    { type: "reasoning", reasoning: "Let me see", details: [{ type: "text", text: "Let me see" }] },
    thinks(),
  ],
  ["reasoning", { type: "reasoning", summary: [{ type: "summary_text", text: "Let me see" }] }, thinks()],
  ["refusal", { type: "refusal", refusal: "No." }, says({ type: "refusal", refusal: "No." })],
  ["text", { type: "textBlock", text: "Hi" }, { role: "assistant", content: "Hi" }],
  ["reasoning", { type: "reasoningBlock", text: "Let me see", signature: "s" }, thinks({ signature: "s" })],
  ["tool call", { type: "toolUseBlock", toolUseId: "c1", name: "weather", input: ARGS }, calls()],
  [
    "tool result",
    { type: "toolResultBlock", toolUseId: "c1", content: [{ type: "textBlock", text: "12 degrees" }] },
    result(),
  ],
  [
    "tool result",
    { type: "function_call_result", callId: "c1", output: { type: "text", text: "12 degrees" } },
    result(),
  ],
  ["tool call", { type: "toolUse", toolUseId: "c1", name: "weather", input: ARGS }, calls()],
  ["tool call", { toolUse: { toolUseId: "c1", name: "weather", input: ARGS } }, calls()],
  ["tool call", { type: "tool_use", id: "c1", name: "weather", input: ARGS }, calls()],
  ["tool call", { toolUseId: "c1", name: "weather", input: ARGS }, calls()],
  ["tool call", { block_type: "tool_call", tool_call_id: "c1", tool_name: "weather", tool_kwargs: ARGS }, calls()],
  ["tool call", { type: "tool-call", toolCallId: "c1", toolName: "weather", input: ARGS }, calls()],
  ["tool call", { type: "tool_call", id: "c1", name: "weather", arguments: ARGS }, calls()],
  ["tool call", { functionCall: { id: "c1", name: "weather", args: ARGS } }, calls()],
  ["tool call", { function_call: { id: "c1", name: "weather", args: ARGS } }, calls()],
  ["tool call", { toolRequest: { ref: "c1", name: "weather", input: ARGS } }, calls()],
  ["tool call", { type: "function_call", call_id: "c1", name: "weather", arguments: '{"city":"Rome"}' }, calls()],
  [
    "tool call",
    { type: "hosted_tool_call", id: "c1", name: "weather", arguments: '{"city":"Rome"}' },
    { ...(calls() as JsonObject), tool_calls: [{ ...CALL, original_type: "hosted_tool_call" }] },
  ],
  ["tool call", { tool_call: { id: "c1", tool_name: "weather", arguments: ARGS } }, calls()],
  ["tool call", { $type: "functionCall", callId: "c1", name: "weather", arguments: ARGS }, calls()],
  ["tool call", { part_kind: "tool-call", tool_call_id: "c1", tool_name: "weather", args: ARGS }, calls()],
  [
    "tool call",
    { type: "server_tool_call", id: "c1", name: "weather", server_tool_call: ARGS },
    { ...(calls() as JsonObject), tool_calls: [{ ...CALL, original_type: "server_tool_call" }] },
  ],
  [
    "tool call",
    { type: "web_search_call", id: "c1", status: "completed", action: { query: "q" } },
    {
      ...(calls() as JsonObject),
      tool_calls: [
        {
          id: "c1",
          type: "function",
          function: { name: "web_search", arguments: '{"query":"q"}' },
          original_type: "web_search_call",
          status: "completed",
        },
      ],
    },
  ],
  ["code", { executableCode: { id: "c1", language: "PYTHON", code: "print(1)" } }, runs()],
  ["code", { executable_code: { id: "c1", language: "PYTHON", code: "print(1)" } }, runs()],
  ["code", { type: "executable_code", id: "c1", language: "PYTHON", code: "print(1)" }, runs()],
  [
    "result of code",
    { codeExecutionResult: { id: "c1", outcome: "OUTCOME_OK", output: "1" } },
    result({ name: "code_execution", content: "1", outcome: "OUTCOME_OK" }),
  ],
  [
    "result of code",
    { code_execution_result: { id: "c1", outcome: "OUTCOME_FAILED", output: "1" } },
    result({ name: "code_execution", content: "1", outcome: "OUTCOME_FAILED", status: "error" }),
  ],
  ["output of code", { type: "logs", logs: "1" }, { role: "assistant", content: "1" }],
  [
    "output of code",
    { stdout: "", stderr: "No such file", outcome: { exit_code: 1 } },
    says({ type: "text", text: "No such file", outcome: { exit_code: 1 } }),
  ],
  [
    "tool result",
    {
      type: "code_execution_tool_result",
      tool_use_id: "c1",
      content: { type: "code_execution_result", stdout: "12 degrees", stderr: "", return_code: 0, content: [] },
    },
    result({ content: [{ type: "text", text: "12 degrees", return_code: 0 }] }),
  ],
  [
    "tool result",
    {
      type: "web_search_tool_result",
      tool_use_id: "c1",
      content: { type: "web_search_tool_result_error", error_code: "max_uses_exceeded" },
    },
    result({ content: "max_uses_exceeded", status: "error" }),
  ],
  [
    "tool result",
    {
      type: "web_fetch_tool_result",
      tool_use_id: "c1",
      content: {
        type: "web_fetch_result",
        url: URL,
        content: { type: "document", source: { type: "text", media_type: "text/plain", data: "12 degrees" } },
      },
    },
    result({
      content: [{ type: "file", source_type: "text", text: "12 degrees", mime_type: "text/plain", url: URL }],
    }),
  ],
  [
    "text",
    { type: "search_result", source: URL, content: [{ type: "text", text: "Hi" }] },
    says({ type: "text", text: "Hi", source: URL }),
  ],
  [
    "tool result",
    { type: "code_execution_result", call_id: "c1", result: "12 degrees", is_error: false },
    result({ is_error: false }),
  ],
  [
    "tool result",
    {
      type: "web_search_tool_result",
      tool_use_id: "c1",
      content: [{ type: "web_search_result", title: "Rain", url: URL, encrypted_content: "e", page_age: null }],
    },
    result({ content: [{ type: "text", text: `Rain\n${URL}`, encrypted_content: "e", page_age: null }] }),
  ],
  [
    "tool result",
    {
      type: "text_editor_code_execution_tool_result",
      tool_use_id: "c1",
      content: { type: "text_editor_code_execution_view_result", file_type: "text", content: "12 degrees" },
    },
    result({ content: [{ type: "text", text: "12 degrees", file_type: "text" }] }),
  ],
  [
    "tool result",
    {
      functionResponse: {
        id: "c1",
        response: { ok: true },
        parts: [{ inlineData: { mimeType: "image/png", data: "iVBORw==" } }],
      },
    },
    result({
      content: [
        { type: "text", text: '{"ok":true}' },
        { type: "image_url", image_url: { url: PNG } },
      ],
    }),
  ],
  [
    "media",
    { type: "resource", resource: { uri: URL, mimeType: "text/markdown", text: "# Rain!" } },
    says({ type: "file", source_type: "text", text: "# Rain!", mime_type: "text/markdown", uri: URL }),
  ],
  [
    "media",
    { type: "resource", resource: { uri: URL, mimeType: "image/png", blob: "iVBORw==" } },
    says({ type: "image_url", image_url: { url: PNG }, uri: URL }),
  ],
  [
    "media",
    { type: "document", title: "Rain", source: { type: "content", content: [{ type: "text", text: "It rains." }] } },
    says({ type: "file", source_type: "text", text: "It rains.", title: "Rain" }),
  ],
  ["media", { type: "container_upload", file_id: "f1" }, says({ type: "file", source_type: "id", id: "f1" })],
  [
    "tool result",
    { type: "computer_call_output", call_id: "c1", output: { type: "computer_screenshot", image_url: URL } },
    result({ content: [{ type: "image_url", image_url: { url: URL } }] }),
  ],
  [
    "tool call",
    { type: "mcp_approval_request", id: "c1", name: "weather", arguments: CALL.function.arguments },
    { ...(calls() as JsonObject), tool_calls: [{ ...CALL, original_type: "mcp_approval_request" }] },
  ],
  [
    "tool call",
    { type: "tool.execution", id: "c1", name: "weather", arguments: CALL.function.arguments },
    { ...(calls() as JsonObject), tool_calls: [{ ...CALL, original_type: "tool.execution" }] },
  ],
  ["tool result", { type: "google_search_result", call_id: "c1", result: "12 degrees" }, result()],
  [
    "media",
    { type: "resource_link", uri: "file:///a.md", name: "a.md" },
    says({ type: "file", source_type: "url", url: "file:///a.md", name: "a.md" }),
  ],
  ["tool result", { type: "function.result", tool_call_id: "c1", result: "12 degrees" }, result()],
  ["tool result", { type: "computer_call_output", call_id: "c1", output: "12 degrees" }, result()],
  ["tool result", { type: "function_result", call_id: "c1", result: "12 degrees" }, result()],
  ["tool result", { $type: "functionResult", callId: "c1", result: "12 degrees" }, result()],
  ["tool result", { type: "server_tool_result", tool_call_id: "c1", output: "12 degrees" }, result()],
  ["tool result", { type: "server_tool_call_response", id: "c1", server_tool_call_response: "12 degrees" }, result()],
  [
    "tool result",
    { type: "tool-error", toolCallId: "c1", toolName: "weather", error: "12 degrees" },
    result({ name: "weather", status: "error" }),
  ],
  [
    "tool result",
    { type: "toolResult", toolUseId: "c1", content: [{ type: "json", json: ARGS }] },
    result({ content: JSON.stringify(ARGS) }),
  ],
  [
    "tool result",
    {
      type: "tool-result",
      toolCallId: "c1",
      output: { type: "json", value: { content: [{ type: "text", text: "12 degrees" }], isError: true } },
    },
    result({ status: "error" }),
  ],
  [
    "tool result",
    { toolResult: { toolUseId: "c1", content: [{ json: ARGS }] } },
    result({ content: JSON.stringify(ARGS) }),
  ],
  [
    "tool result",
    { type: "tool_call_response", id: "c1", response: { content: [{ type: "text", text: "12 degrees" }] } },
    result(),
  ],
  ["tool result", { type: "toolResult", toolUseId: "c1", content: [{ text: "12 degrees" }] }, result()],
  ["tool result", { toolResult: { toolUseId: "c1", content: [{ text: "12 degrees" }] } }, result()],
  ["tool result", { type: "tool_result", tool_use_id: "c1", content: "12 degrees" }, result()],
  ["tool result", { type: "tool-result", toolCallId: "c1", output: { type: "text", value: "12 degrees" } }, result()],
  ["tool result", { type: "tool_call_response", id: "c1", response: "12 degrees" }, result()],
  [
    "tool result",
    { functionResponse: { id: "c1", name: "weather", response: "12 degrees" } },
    result({ name: "weather" }),
  ],
  ["tool result", { toolResponse: { ref: "c1", output: "12 degrees" } }, result()],
  ["tool result", { type: "function_call_output", call_id: "c1", output: "12 degrees" }, result()],
  ["tool result", { tool_call_result: { result: "12 degrees", origin: { id: "c1" } } }, result()],
  ["media", { type: "image_url", image_url: { url: URL } }, image(URL)],
  ["media", { type: "input_image", image_url: URL }, image(URL)],
  ["media", { type: "uri", modality: "image", uri: URL }, image(URL)],
  ["media", { type: "image", source: { type: "url", url: URL } }, image(URL)],
  ["media", { type: "image", image: URL }, image(URL)],
  ["media", { type: "image", source_type: "url", url: URL }, image(URL)],
  ["media", { type: "image", source_type: "base64", mime_type: "image/png", data: "iVBORw==" }, image(PNG)],
  ["media", { type: "image", mimeType: "image/png", data: "iVBORw==" }, image(PNG)],
  ["media", { type: "image", image: { image: { url: URL } } }, image(URL)],
  ["media", { media: { url: URL, contentType: "image/png" } }, image(URL, { mime_type: "image/png" })],
  ["media", { fileData: { fileUri: URL, mimeType: "image/png" } }, image(URL, { mime_type: "image/png" })],
  ["media", { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw==" } }, image(PNG)],
  ["media", { type: "blob", modality: "image", mime_type: "image/png", content: "iVBORw==" }, image(PNG)],
  ["media", { inlineData: { mimeType: "image/png", data: "iVBORw==" } }, image(PNG)],
  ["media", { image: { base64_image: "iVBORw==", mime_type: "image/png", detail: null } }, image(PNG)],
  ["media", { image: { format: "png", source: { bytes: BYTES } } }, image(PNG, { format: "png" })],
  ["media", { type: "image", image: BYTES, mediaType: "image/png" }, image(PNG)],
  ["media", { type: "file", data: [137, 80, 78, 71], mediaType: "image/png" }, image(PNG)],
  ["media", { type: "file", mediaType: "image/png", data: { 0: 137, 1: 80, 2: 78, 3: 71 } }, image(PNG)],
  [
    "media",
    { type: "file", data: "JVBERi0=", mediaType: "application/pdf", filename: "a.pdf" },
    says({ type: "file", source_type: "base64", mime_type: "application/pdf", data: "JVBERi0=", filename: "a.pdf" }),
  ],
  [
    "media",
    { inline_data: { mime_type: "audio/wav", data: "UklGRg==" } },
    says({ type: "audio", source_type: "base64", mime_type: "audio/wav", data: "UklGRg==" }),
  ],
  [
    "media",
    { type: "document", source: { type: "text", media_type: "text/plain", data: "abcd" } },
    says({ type: "file", source_type: "text", text: "abcd", mime_type: "text/plain" }),
  ],
  ["media", { kind: "image-url", url: URL }, image(URL)],
  [
    "media",
    { type: "file", mediaType: "image/png", data: { type: "url", url: URL } },
    image(URL, { mime_type: "image/png" }),
  ],
  ["media", { type: "image-data", mediaType: "image/png", data: "iVBORw==" }, image(PNG)],
  ["media", { type: "file-url", mediaType: "image/png", url: URL }, image(URL, { mime_type: "image/png" })],
  ["media", { kind: "binary", media_type: "image/png", binary_content: "iVBORw==" }, image(PNG)],
  ["media", { block_type: "image", image: "iVBORw==", image_mimetype: "image/png" }, image(PNG)],
  ["media", { type: "image_content", image: URL }, image(URL)],
  ["media", { type: "image", data: "iVBORw0KGgo=" }, image("data:image/png;base64,iVBORw0KGgo=")],
  ["media", { type: "document_url", document_url: URL }, says({ type: "file", source_type: "url", url: URL })],
  ["media", { type: "input_image", file_id: "f1" }, says({ type: "image", source_type: "id", id: "f1" })],
  ["media", { type: "file", modality: "image", file_id: "f1" }, says({ type: "image", source_type: "id", id: "f1" })],
  ["", { type: "hologram", depth: 3 }, says({ type: "hologram", depth: 3 })],
];

const ANSWER = { role: "assistant", content: "Hello" };
const TALK = [{ role: "system", content: "Be kind." }, { role: "user", content: "Hi" }, ANSWER];
const GEMINI = [
  { role: "user", parts: [{ text: "Hi" }] },
  { role: "model", parts: [{ text: "Hello" }] },
];
const CHAT = [{ role: "user", content: "Hi" }, ANSWER];
const lc = (name: string, content: string): Json => ({
  lc: 1,
  type: "constructor",
  id: ["langchain_core", name],
  kwargs: { content },
});
const LC = [lc("SystemMessage", "Be kind."), lc("HumanMessage", "Hi"), lc("AIMessage", "Hello")];

/** Row of the table of envelopes, content, the messages that it becomes. */
const INVOCATION = { state: "result", toolCallId: "c1", toolName: "weather", args: ARGS, result: "12 degrees" };

const built = (name: string, args: Json): Json => ({
  ...(calls() as JsonObject),
  tool_calls: [
    {
      id: "c1",
      type: "function",
      function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
      original_type: `${name}_call`,
    },
  ],
});

const BODIES: readonly (readonly [row: string, content: Json, becomes: readonly Json[]])[] = [
  [
    "messages",
    { messages: [{ role: "assistant", content: "", toolInvocations: [INVOCATION] }] },
    [calls(), result({ name: "weather" })],
  ],
  [
    "messages",
    {
      messages: [
        { role: "user", content: "Hi", parts: [{ type: "text", text: "Hi" }] },
        {
          role: "assistant",
          content: "It rains.",
          parts: [
            { type: "tool-invocation", toolInvocation: INVOCATION },
            { type: "text", text: "It rains." },
          ],
          toolInvocations: [INVOCATION],
        },
      ],
    },
    [
      { role: "user", content: "Hi" },
      calls(),
      result({ name: "weather" }),
      { role: "assistant", content: "It rains." },
    ],
  ],
  [
    "messages",
    {
      messages: [{ role: "user", content: "Hi", experimental_attachments: [{ contentType: "image/png", url: URL }] }],
    },
    [
      {
        role: "user",
        content: [
          { type: "text", text: "Hi" },
          { type: "image_url", image_url: { url: URL }, mime_type: "image/png" },
        ],
      },
    ],
  ],
  [
    "messages",
    { messages: [{ role: "thinking", content: "Let me see" }] },
    [{ role: "assistant", content: [{ type: "reasoning", reasoning: "Let me see" }] }],
  ],
  [
    "messages",
    { messages: [{ role: "user", content: { content: '[{"text":"Hi"}]', role: "user" } }] },
    [{ role: "user", content: "Hi" }],
  ],
  ["inputs", { args: [], kwargs: { messages: [{ role: "user", content: "Hi" }] } }, [{ role: "user", content: "Hi" }]],
  ["", TALK, TALK],
  [
    "output items",
    { output: [{ type: "code_interpreter_call", id: "c1", code: "print(1)", outputs: [{ type: "logs", logs: "1" }] }] },
    [built("code_interpreter", "print(1)"), result({ content: "1" })],
  ],
  [
    "output items",
    {
      output: [
        { type: "file_search_call", id: "c1", queries: ["rain"], results: [{ file_id: "f1", text: "It rains." }] },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "Hello" }] },
      ],
    },
    [built("file_search", ["rain"]), result({ content: [{ type: "text", text: "It rains.", file_id: "f1" }] }), ANSWER],
  ],
  [
    "output items",
    { output: [{ type: "image_generation_call", id: "c1", result: "iVBORw==", error: null }] },
    [built("image_generation", {}), result({ content: [{ type: "image_url", image_url: { url: PNG } }] })],
  ],
  [
    "output items",
    { output: [{ type: "mcp_call", id: "c1", name: "weather", arguments: ARGS, output: null, error: "12 degrees" }] },
    [{ ...(calls() as JsonObject), tool_calls: [{ ...CALL, original_type: "mcp_call" }] }, result({ status: "error" })],
  ],
  ["output items", { outputs: [{ type: "message.output", role: "assistant", content: "Hello" }] }, [ANSWER]],
  ["", LC, TALK],
  [
    "",
    [
      ["human", "Hi"],
      ["ai", "Hello"],
    ].map(([type, content]) => ({ type, data: { content } })) as Json,
    CHAT,
  ],
  [
    "",
    [
      { role: "user", text: "Hi", files: [] },
      { role: "assistant", text: "Hello", files: [] },
    ],
    CHAT,
  ],
  ["", TALK.map((one) => JSON.stringify(one)), TALK],
  ["", [JSON.stringify(ANSWER), JSON.stringify({ role: "user", content: "Thank you" }).slice(0, -6)], [ANSWER]],
  [
    "",
    [{ role: "assistant", tool_calls: [{ id: "c1", type: "weather", weather: { input: ARGS } }] }],
    [{ role: "assistant", tool_calls: [CALL] }],
  ],
  [
    "",
    [{ role: "assistant", tool_calls: [{ id: "c1", type: "weather", weather: ARGS }] }],
    [{ role: "assistant", tool_calls: [CALL] }],
  ],
  [
    "",
    [
      {
        role: "assistant",
        content: [{ type: "hosted_tool_call", id: "c1", name: "weather", providerData: { action: ARGS } }],
      },
    ],
    [
      {
        role: "assistant",
        content: "",
        tool_calls: [{ ...CALL, providerData: {}, original_type: "hosted_tool_call" }],
      },
    ],
  ],
  [
    "",
    [
      { type: "SYSTEM", text: "Be kind." },
      { type: "USER", contents: [{ type: "TEXT", text: "Hi" }] },
      { type: "AI", text: "Hello" },
    ],
    TALK,
  ],
  [
    "",
    [
      { type: "AI", toolExecutionRequests: [{ id: "c1", name: "weather", arguments: CALL.function.arguments }] },
      { type: "TOOL_EXECUTION_RESULT", id: "c1", toolName: "weather", text: "12 degrees" },
    ],
    [{ role: "assistant", tool_calls: [CALL] }, result({ name: "weather" })],
  ],
  [
    "",
    [
      { role: "HumanMessage", content: "Hi" },
      { role: "AIMessageChunk", content: "Hello" },
    ],
    CHAT,
  ],
  [
    "",
    [
      {
        role: "assistant",
        id: "m1",
        parts: [
          { type: "text", text: "Let me see", state: "done" },
          { type: "tool-weather", toolCallId: "c1", state: "output-available", input: ARGS, output: "12 degrees" },
          { type: "text", text: "Hello", state: "done" },
        ],
      },
    ],
    [{ ...(calls() as JsonObject), content: "Let me see" }, result({ name: "weather" }), { ...ANSWER, id: "m1" }],
  ],
  [
    "",
    [
      {
        role: "assistant",
        content: "Hello",
        reasoning_content: "Let me see",
        thinking_blocks: [{ type: "thinking", thinking: "Let me see", signature: "s" }],
        provider_specific_fields: {
          thinking_blocks: [{ type: "thinking", thinking: "Let me see", signature: "s" }],
        },
      },
    ],
    [says({ type: "reasoning", reasoning: "Let me see", signature: "s" }, { type: "text", text: "Hello" })],
  ],
  ["", [{ role: "user", content: JSON.stringify(CHAT) }], CHAT],
  ["", [{ role: "user", parts: [{ type: "text", content: JSON.stringify(CHAT) }] }], CHAT],
  [
    "",
    [
      { source: "user", models_usage: null, metadata: {}, content: "Hi", type: "TextMessage" },
      { source: "assistant", models_usage: null, metadata: {}, content: "Hello", type: "TextMessage" },
    ],
    CHAT,
  ],
  [
    "",
    [
      { content: "Be kind.", type: "SystemMessage" },
      { content: "Hi", source: "user", type: "UserMessage" },
      { content: "Hello", thought: null, source: "assistant", type: "AssistantMessage" },
    ],
    TALK,
  ],
  [
    "",
    [
      { source: "helper", content: "Let me see", type: "ThoughtEvent" },
      { source: "helper", content: [{ id: "c1", name: "weather", arguments: ARGS }], type: "ToolCallRequestEvent" },
      { content: [{ call_id: "c1", name: "weather", content: "12 degrees" }], type: "ToolCallExecutionEvent" },
      { source: "helper", content: "Hello", tool_calls: [CALL], type: "ToolCallSummaryMessage" },
    ],
    [
      { name: "helper", ...(thinks() as JsonObject) },
      { name: "helper", ...(calls() as JsonObject) },
      result({ name: "weather" }),
      { name: "helper", ...ANSWER, summary_of: { calls: [CALL], results: [] } },
    ],
  ],
  ["", [{ role: "assistant", content: "", images: ["iVBORw0KGgo="] }], [image("data:image/png;base64,iVBORw0KGgo=")]],
  [
    "",
    [
      ["human", "Hi"],
      ["ai", "Hello"],
    ],
    CHAT,
  ],
  ["", [{ _role: "assistant", _content: [{ text: "Hello" }], _name: null, _meta: {} }], [ANSWER]],
  [
    "",
    [{ role: "assistant", additional_kwargs: {}, blocks: [{ block_type: "text", text: "Hello" }] }],
    [{ ...ANSWER, additional_kwargs: {} }],
  ],
  [
    "",
    [{ role: "assistant", content: { format: 2, parts: [{ type: "text", text: "Hello" }], content: "Hello" } }],
    [ANSWER],
  ],
  [
    "",
    [
      {
        role: "assistant",
        parts: [
          { type: "step-start" },
          { type: "tool-weather", toolCallId: "c1", state: "output-available", input: ARGS, output: "12 degrees" },
        ],
      },
    ],
    [calls(), result({ name: "weather" })],
  ],
  [
    "",
    [
      {
        role: "assistant",
        content: [
          {
            type: "tool-invocation",
            toolInvocation: { state: "call", toolCallId: "c1", toolName: "weather", args: ARGS },
          },
        ],
      },
    ],
    [{ role: "assistant", content: "", tool_calls: [{ ...CALL, state: "call" }] }],
  ],
  ["", [{ role: "assistant", content: null, refusal: "No." }], [says({ type: "refusal", refusal: "No." })]],
  [
    "",
    [{ role: "assistant", content: "", tool_plan: "Let me see", tool_calls: [CALL] }],
    [{ ...(thinks() as JsonObject), tool_calls: [CALL] }],
  ],
  [
    "",
    [
      {
        role: "assistant",
        content: "Hello",
        reasoning: "Let me see",
        reasoning_details: [{ type: "reasoning.text", text: "Let me see" }],
        tool_calls: [CALL],
        additional_kwargs: { tool_calls: [CALL] },
        raw: { choices: [{ message: { role: "assistant", content: "Hello" } }] },
      },
    ],
    [
      {
        ...(says({ type: "reasoning", reasoning: "Let me see" }, { type: "text", text: "Hello" }) as JsonObject),
        tool_calls: [CALL],
      },
    ],
  ],
  [
    "",
    [
      {
        role: "assistant",
        content: null,
        audio: { id: "a", data: "UklGRiQAAABXQVZF", transcript: "Hello" },
      },
    ],
    [
      says(
        { type: "text", text: "Hello" },
        { type: "audio", source_type: "base64", mime_type: "audio/wav", data: "UklGRiQAAABXQVZF", id: "a" },
      ),
    ],
  ],
  [
    "",
    [
      { candidates: [{ content: { role: "model", parts: [{ text: "Hel" }] } }] },
      { candidates: [{ content: { role: "model", parts: [{ text: "lo" }] } }] },
    ],
    [ANSWER],
  ],
  [
    "",
    [
      { choices: [{ index: 0, delta: { role: "assistant", content: "Hel" } }] },
      { choices: [{ index: 0, delta: { content: "lo" } }] },
      { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    ],
    [{ ...ANSWER, finish_reason: "stop" }],
  ],
  ["", [{ generated_text: "Hello" }], [ANSWER]],
  ["", ["Hello"], [ANSWER]],
  ["", [{ text: "Hello" }], [ANSWER]],
  ["", [...CHAT, { type: "compaction", id: "i" }], [...CHAT, says({ type: "compaction", id: "i" })]],
  ["messages", { messages: TALK }, TALK],
  ["messages", { messages: TALK.map((one) => JSON.stringify(one)) }, TALK],
  ["messages", { system: "Be kind.", messages: CHAT }, TALK],
  [
    "messages",
    {
      system: [{ text: "Be kind." }],
      messages: [
        { role: "user", content: [{ text: "Hi" }] },
        { role: "assistant", content: [{ text: "Hello" }] },
      ],
    },
    TALK,
  ],
  ["messages", { messages: [LC] }, TALK],
  ["contents", { contents: GEMINI, systemInstruction: { parts: [{ text: "Be kind." }] } }, TALK],
  ["contents", { contents: GEMINI, config: { systemInstruction: "Be kind." } }, TALK],
  ["contents", { contents: ["Hello"] }, [ANSWER]],
  [
    "contents",
    { contents: [{ text: "Hello" }, { fileData: { fileUri: URL, mimeType: "image/png" } }] },
    [says({ type: "text", text: "Hello" }, { type: "image_url", image_url: { url: URL }, mime_type: "image/png" })],
  ],
  ["contents", { contents: { role: "model", parts: { text: "Hello" } } }, [ANSWER]],
  ["contents", { contents: GEMINI, config: { system_instruction: "Be kind." } }, TALK],
  ["input", { instructions: "Be kind.", input: CHAT }, TALK],
  ["prompt", { system: "Be kind.", prompt: CHAT }, TALK],
  [
    "items",
    {
      items: [
        { type: "message", role: "user", content: ["Hi"] },
        { type: "message", role: "assistant", content: ["Hello"] },
      ],
    },
    CHAT,
  ],
  ["choices", { choices: [{ index: 0, message: ANSWER }] }, [ANSWER]],
  ["candidates", { candidates: [{ content: { role: "model", parts: [{ text: "Hello" }] } }] }, [ANSWER]],
  ["generations", { generations: [[{ text: "Hello", message: lc("AIMessage", "Hello") }]] }, [ANSWER]],
  [
    "generations",
    { generations: [[{ text: "Hello", type: "ChatGeneration", message: { content: "Hello", type: "ai" } }]] },
    [ANSWER],
  ],
  ["replies", { replies: [{ role: "assistant", meta: {}, name: null, content: [{ text: "Hello" }] }] }, [ANSWER]],
  [
    "output",
    { output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "Hello" }] }] },
    [ANSWER],
  ],
  ["output", { output: { message: { role: "assistant", content: [{ text: "Hello" }] } } }, [ANSWER]],
  ["a message", { role: "assistant", content: "Hello" }, [ANSWER]],
  ["a message", { type: "message", role: "assistant", content: [{ type: "output_text", text: "Hello" }] }, [ANSWER]],
  ["a message", { message: { role: "model", content: [{ text: "Hello" }] } }, [ANSWER]],
  ["a message", { content: { role: "model", parts: [{ text: "Hello" }] } }, [ANSWER]],
  ["text, calls and files", { text: "Hello", toolCalls: [] }, [ANSWER]],
  ["text, calls and files", { text: "Hello", files: [] }, [ANSWER]],
  ["a text of Bedrock", { text: "Hello", usage: {}, finish_reason: "stop" }, [ANSWER]],
  ["a text of Bedrock", { results: [{ outputText: "Hello" }] }, [ANSWER]],
  ["a text of Bedrock", { generation: "Hello" }, [ANSWER]],
  ["a text of Bedrock", { response: "Hello", done: true }, [ANSWER]],
  ["a text of Bedrock", { finish_reason: "stop", content: "Hello", cached: false }, [ANSWER]],
  [
    "a text of Bedrock",
    { finish_reason: "function_calls", content: [{ id: "c1", name: "weather", arguments: '{"city":"Rome"}' }] },
    [calls()],
  ],
  [
    "prompt",
    { prompt: "Hi", images: ["iVBORw0KGgo="] },
    [
      says(
        { type: "text", text: "Hi" },
        { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
      ),
    ],
  ],
  ["prompt", { inputs: "Hello" }, [ANSWER]],
  ["chat_history", { preamble: "Be kind.", chat_history: [{ role: "USER", message: "Hi" }], message: "Hello" }, TALK],
  ["chat_history", { preamble: "Be kind.", message: "Hello" }, [TALK[0] ?? null, ANSWER]],
  ["inputs, outputs", { outputs: { messages: CHAT } }, CHAT],
  ["inputs, outputs", { value: CHAT }, CHAT],
  [
    "inputs, outputs",
    { input: { messages: [{ role: "user", content: { content: '[{"text":"Hi"}]' } }, ANSWER] } },
    CHAT,
  ],
];

/** Where an answer may stand. */
const PLACES: Readonly<Record<string, (text: string) => GivenSpan>> = Object.fromEntries(
  [
    "gen_ai.output.messages",
    "output.value",
    "traceloop.entity.output",
    "langfuse.observation.output",
    "gen_ai.completion",
    "genkit:output",
    "mlflow.spanOutputs",
    "gcp.vertex.agent.llm_response",
    "response_data",
    "mastra.model_step.output",
    "braintrust.output_json",
    "haystack.component.output",
    "gen_ai.task.output",
  ].map((key) => [
    `the attribute ${key}`,
    (text: string) => ({ attributes: { "langsmith.span.kind": "llm", [key]: text } }),
  ]),
);
const EVENTS: typeof PLACES = {
  "an event of the operation's details": (text) => ({
    attributes: { "gen_ai.operation.name": "chat" },
    events: [{ name: "gen_ai.client.inference.operation.details", attributes: { "gen_ai.output.messages": text } }],
  }),
  "an event with the completion": (text) => ({
    attributes: { "gen_ai.operation.name": "chat" },
    events: [{ name: "gen_ai.content.completion", attributes: { "gen_ai.completion": text } }],
  }),
};
/** Places of one message. */
const OF_MESSAGES: typeof PLACES = {
  "a choice of an event": (text) => ({
    attributes: { "gen_ai.operation.name": "chat" },
    events: [{ name: "gen_ai.choice", attributes: { message: text } }],
  }),
  "a flattened completion": (text) => ({
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.completion.0.role": "assistant",
      "gen_ai.completion.0.content": text,
    },
  }),
};

function readMessages(span: GivenSpan): Json {
  return (parsed(translateContent(span).outputs) as JsonObject)["messages"] ?? null;
}

describe("what a limit cut off", () => {
  const BLOCKS = `[{"type":"text","text":"Hello"},{"type":"tool_use","id":"c1","name":"weather","input":{"city":"Rome"}}`;
  const REST = '{"type":"text","text":"It ra';
  const said = { ...(calls() as JsonObject), content: "Hello" };
  const readOutputs = (span: GivenSpan): Json => parsed(translateContent(span).outputs);

  test("of the blocks of a message leaves the complete ones, and the rest as text", () => {
    for (const [place, write] of Object.entries({ ...PLACES, ...EVENTS }))
      assert.deepEqual(
        readOutputs(write(`[{"role":"assistant","content":${BLOCKS},${REST}`)),
        { messages: [said], truncated: REST },
        place,
      );
    for (const [place, write] of Object.entries(OF_MESSAGES))
      assert.deepEqual(readOutputs(write(`${BLOCKS},${REST}`)), { messages: [{ ...said, truncated: REST }] }, place);
  });

  test("of a message as text in a message leaves the same", () => {
    for (const [place, write] of Object.entries(OF_MESSAGES))
      assert.deepEqual(
        readOutputs(write(`{"role":"assistant","content":${BLOCKS},${REST}`)),
        { messages: [{ ...said, truncated: REST }] },
        place,
      );
  });

  test("of an only block leaves the text that it is", () => {
    for (const [place, write] of Object.entries(OF_MESSAGES))
      assert.deepEqual(readMessages(write(`[${REST}`)), [{ role: "assistant", content: `[${REST}` }], place);
  });

  test("is no message without its role", () => {
    const known = { role: "system", content: "Be kind." };
    const [whole, more] = ['{"parts":[{"type":"text","content":"Hi"},', '{"type":"text","content":"It ra'];
    for (const key of ["gen_ai.input.messages", "input.value", "langfuse.observation.input", "gen_ai.prompt"])
      assert.deepEqual(
        parsed(
          translateContent({
            attributes: { "langsmith.span.kind": "llm", [key]: `[${JSON.stringify(known)},${whole}${more}` },
          }).inputs,
        ),
        { messages: [known], truncated: whole + more },
        key,
      );
  });
});

describe("a model that only a body names", () => {
  const MODEL = "gpt-5-2026";
  const ANSWERS: readonly Json[] = [
    { model: MODEL, choices: [{ index: 0, message: ANSWER }] },
    { modelVersion: MODEL, candidates: [{ content: { role: "model", parts: [{ text: "Hello" }] } }] },
    { id: "m", type: "message", model: MODEL, role: "assistant", content: [{ type: "text", text: "Hello" }] },
    { generations: [[{ message: lc("AIMessage", "Hello") }]], llmOutput: { model_name: MODEL } },
    [{ ...ANSWER, response_metadata: { model_name: MODEL } }],
  ];
  const readModel = (span: GivenSpan): Json => parseExtra(translateContent(span)).metadata["ls_model_name"] ?? null;

  for (const body of ANSWERS)
    test(`is the run's: ${JSON.stringify(body).slice(0, 40)}`, () => {
      for (const [place, write] of Object.entries({ ...PLACES, ...EVENTS }))
        assert.equal(readModel(write(JSON.stringify(body))), MODEL, place);
    });

  test("is that of the answer before that of the request, and of an attribute before both", () => {
    const request = { "langsmith.span.kind": "llm", "input.value": JSON.stringify({ model: "gpt-5", messages: CHAT }) };
    const both = { ...request, "output.value": JSON.stringify(ANSWERS[0]) };
    assert.equal(readModel({ attributes: request }), "gpt-5");
    assert.equal(readModel({ attributes: both }), MODEL);
    assert.equal(readModel({ attributes: { ...both, "llm.model_name": "other" } }), "other");
    const { call } = translateContent({ attributes: both });
    assert.deepEqual([call.model, call.requestModel], [MODEL, "gpt-5"]);
    assert.equal(readModel({ attributes: { ...request, "langsmith.span.kind": "chain" } }), null);
  });
});

describe("blocks of a message", () => {
  for (const [form, part, becomes] of PARTS)
    test(`${form || "unknown"}: ${JSON.stringify(part).slice(0, 60)}`, () => {
      for (const [place, write] of Object.entries({ ...PLACES, ...EVENTS })) {
        for (const name of ["content", "parts"]) {
          const given = JSON.stringify([{ role: "assistant", [name]: [part] }]);
          const read = readMessages(write(given));
          const isText = form === "text" && name === "parts" && JSON.stringify(becomes).split(",").length <= 4;
          assert.deepEqual(
            isText ? lighten(read) : read,
            isText ? lighten([becomes]) : [becomes],
            `${name} in ${place}`,
          );
        }
      }
      for (const [place, write] of Object.entries(OF_MESSAGES))
        assert.deepEqual(lighten(readMessages(write(JSON.stringify([part])))), lighten([becomes]), place);
    });

  test("every form of the table has a row", () => {
    const rows = new Set(PARTS.map(([form]) => form));
    for (const { name } of BLOCK_FORMS) assert.ok(rows.has(name), name);
  });
});

/** A list with one text is that text. */
function lighten(messages: Json): Json {
  return JSON.parse(JSON.stringify(messages).replaceAll(/\[\{"type":"text","text":("[^"]*")\}\]/g, "$1")) as Json;
}

describe("bodies", () => {
  for (const [row, content, becomes] of BODIES)
    test(`${row || "a list"}: ${JSON.stringify(content).slice(0, 60)}`, () => {
      for (const [place, write] of Object.entries({ ...PLACES, ...EVENTS }))
        assert.deepEqual(lighten(readMessages(write(JSON.stringify(content)))), lighten(becomes as Json), place);
    });

  test("every row of the table has a body", () => {
    for (const { name } of ENVELOPES)
      assert.ok(
        BODIES.some(([row]) => row !== "" && name.startsWith(row)),
        name,
      );
  });
});
