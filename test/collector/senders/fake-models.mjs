// Fake models: one server with the rules of OpenAI's chat and Responses APIs and of Gemini's. Every model calls the tool
// "weather" first, and says that it rains once it has the result. A request that the real API refuses gets a 400.
import { createServer } from "node:http";

const CALL = { id: "call-1", name: "weather", arguments: '{"city":"Paris"}' };
const TEXT = "It rains.";
const MODEL = "gpt-5-2026";

class Refused extends Error {}

function require(isAllowed, reason) {
  if (!isAllowed) throw new Refused(reason);
}

/** Every call has its result right behind it, and every result its call. */
function requireResults(calls, results) {
  require(calls.join() === results.join(), `calls ${calls.join()} have the results ${results.join()}`);
}

const CHAT_ROLES = ["system", "developer", "user", "assistant", "tool"];

function answerChat({ model, messages, tools = [], stream = false, stream_options: streamOptions }) {
  require(typeof model === "string" && model !== "", "you must provide a model parameter");
  require(Array.isArray(messages) && messages.length > 0, "'messages' must be a list with items");
  for (const { role, content, tool_calls: calls } of messages) {
    require(CHAT_ROLES.includes(role), `'${role}' is not one of the roles`);
    require(content !== undefined || calls !== undefined, "'content' is missing");
    for (const call of calls ?? [])
      require(call.type === "function" && typeof call.function?.arguments === "string", "a call has a function");
  }
  for (const { type, function: inner } of tools)
    require(type === "function" && typeof inner?.name === "string", "tools[].function.name is missing");
  const calls = messages.flatMap((one) => one.tool_calls ?? []).map(({ id }) => id);
  const results = messages.flatMap((one) => (one.role === "tool" ? [one.tool_call_id] : []));
  requireResults(calls, results);
  const { id, ...called } = CALL;
  const call = { id, type: "function", function: called };
  const message =
    results.length > 0
      ? { role: "assistant", content: TEXT, refusal: null }
      : { role: "assistant", content: null, refusal: null, tool_calls: [call] };
  const reason = results.length > 0 ? "stop" : "tool_calls";
  const base = { id: "chatcmpl-1", created: 1, model: MODEL, system_fingerprint: "fp" };
  const usage = {
    prompt_tokens: 11,
    completion_tokens: 7,
    total_tokens: 18,
    prompt_tokens_details: { cached_tokens: 3, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 2, audio_tokens: 0 },
  };
  if (!stream)
    return {
      ...base,
      object: "chat.completion",
      choices: [{ index: 0, message, logprobs: null, finish_reason: reason }],
      usage,
    };
  const chunk = (choices, more = {}) => ({ ...base, object: "chat.completion.chunk", choices, ...more });
  const delta = message.tool_calls === undefined ? message : { ...message, tool_calls: [{ index: 0, ...call }] };
  return [
    chunk([{ index: 0, delta, finish_reason: null }]),
    chunk([{ index: 0, delta: {}, finish_reason: reason }]),
    ...(streamOptions?.include_usage === true ? [chunk([], { usage })] : []),
  ];
}

function answerResponse({ model, input, instructions = null, tools = [], stream = false }) {
  require(typeof model === "string" && model !== "", "you must provide a model parameter");
  const items = typeof input === "string" ? [{ role: "user", content: input }] : input;
  require(Array.isArray(items) && items.length > 0, "'input' must be a text or a list with items");
  for (const { type = "message", role } of items)
    require(type !== "message" || ["system", "developer", "user", "assistant"].includes(role), `no role '${role}'`);
  const calls = items.filter(({ type }) => type === "function_call").map((one) => one.call_id);
  const results = items.filter(({ type }) => type === "function_call_output").map((one) => one.call_id);
  requireResults(calls, results);
  const { id: callId, ...called } = CALL;
  const content = [{ type: "output_text", text: TEXT, annotations: [], logprobs: [] }];
  const item =
    results.length > 0
      ? { id: "msg_1", type: "message", status: "completed", role: "assistant", content }
      : { id: "fc_1", type: "function_call", status: "completed", call_id: callId, ...called };
  const response = {
    id: "resp_1",
    object: "response",
    created_at: 1,
    status: "completed",
    error: null,
    incomplete_details: null,
    instructions,
    model: MODEL,
    output: [item],
    parallel_tool_calls: true,
    previous_response_id: null,
    tools,
    usage: {
      input_tokens: 11,
      input_tokens_details: { cached_tokens: 3 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 2 },
      total_tokens: 18,
    },
    metadata: {},
  };
  if (!stream) return response;
  return [
    { type: "response.created", sequence_number: 0, response: { ...response, status: "in_progress", output: [] } },
    { type: "response.output_item.added", sequence_number: 1, output_index: 0, item },
    { type: "response.output_item.done", sequence_number: 2, output_index: 0, item },
    { type: "response.completed", sequence_number: 3, response },
  ];
}

function answerGemini({ contents }) {
  require(Array.isArray(contents) && contents.length > 0, "contents is not specified");
  for (const { role = "user", parts } of contents) {
    require(["user", "model"].includes(role), `Please use a valid role: user, model`);
    require(Array.isArray(parts) && parts.length > 0, "contents.parts must not be empty");
  }
  require(contents.at(-1).role !== "model", "the last content is the user's");
  const parts = contents.flatMap((one) => one.parts);
  const names = (member) => parts.flatMap((one) => (one[member] === undefined ? [] : [one[member].name]));
  requireResults(names("functionCall"), names("functionResponse"));
  const part =
    names("functionResponse").length > 0
      ? { text: TEXT }
      : { functionCall: { id: CALL.id, name: CALL.name, args: JSON.parse(CALL.arguments) } };
  return {
    candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 }],
    usageMetadata: {
      promptTokenCount: 11,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 2,
      cachedContentTokenCount: 3,
      totalTokenCount: 18,
    },
    modelVersion: "gemini-2.5-flash-001",
  };
}

/** Path → the API, and the header with its key. */
const APIS = [
  [/^\/v1\/chat\/completions$/, "authorization", answerChat],
  [/^\/v1\/responses$/, "authorization", answerResponse],
  [/^\/v1beta\/models\/[\w.-]+:generateContent$/, "x-goog-api-key", answerGemini],
];

function answer({ url, method, headers }, body) {
  const [, key, read] = APIS.find(([path]) => path.test(url.split("?")[0])) ?? [];
  if (read === undefined || method !== "POST") return { status: 404, value: { error: { message: `no ${url}` } } };
  if (headers[key] === undefined) return { status: 401, value: { error: { message: "no API key" } } };
  try {
    require((headers["content-type"] ?? "").startsWith("application/json"), "the body is JSON");
    return { status: 200, value: read(JSON.parse(body)) };
  } catch (error) {
    console.error("fake model:", error.message);
    return { status: 400, value: { error: { message: error.message, type: "invalid_request_error" } } };
  }
}

function writeStream(events) {
  const name = ({ type }) => (type === undefined ? "" : `event: ${type}\n`);
  return `${events.map((event) => `${name(event)}data: ${JSON.stringify(event)}\n\n`).join("")}data: [DONE]\n\n`;
}

/** @returns {Promise<{origin: string, close: () => void}>} */
export async function startModels() {
  const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const { status, value } = answer(request, Buffer.concat(chunks).toString());
      const isStream = Array.isArray(value);
      response.writeHead(status, { "content-type": isStream ? "text/event-stream" : "application/json" });
      response.end(isStream ? writeStream(value) : JSON.stringify(value));
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { origin: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

/** `doGenerate` of a mock model of the AI SDK: a call of the tool, and then the answer. */
export function scriptAnswers() {
  const answers = [
    {
      content: [{ type: "tool-call", toolCallId: CALL.id, toolName: CALL.name, input: CALL.arguments }],
      finishReason: { unified: "tool-calls", raw: "tool_calls" },
    },
    { content: [{ type: "text", text: TEXT }], finishReason: { unified: "stop", raw: "stop" } },
  ];
  const usage = {
    inputTokens: { total: 11, noCache: 8, cacheRead: 3, cacheWrite: 0 },
    outputTokens: { total: 7, text: 5, reasoning: 2 },
  };
  return async () => ({ ...answers.shift(), usage, warnings: [] });
}
