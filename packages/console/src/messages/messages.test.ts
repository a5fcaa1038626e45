// Test of messages: every form that senders write them in becomes the same conversation (messages.1, messages.2).
import assert from "node:assert/strict";
import { test } from "node:test";
import { messagesIn, readMessages } from "./messages.ts";

const WEATHER = { id: "c1", name: "weather", args: { city: "Paris" } };

const FORMS: readonly { readonly name: string; readonly list: readonly unknown[] }[] = [
  {
    name: "LangChain's messages",
    list: [
      { type: "human", content: "Weather?" },
      { type: "ai", content: "", tool_calls: [{ ...WEATHER, type: "tool_call" }] },
      { type: "tool", tool_call_id: "c1", content: "rain" },
    ],
  },
  {
    name: "the chat format of model providers",
    list: [
      { role: "user", content: [{ type: "text", text: "Weather?" }] },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Paris"}' } }],
      },
      { role: "tool", tool_call_id: "c1", content: "rain" },
    ],
  },
  {
    name: "blocks in the content",
    list: [
      { role: "user", content: "Weather?" },
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "weather", input: { city: "Paris" } }] },
      { role: "tool", content: [{ type: "tool_result", tool_use_id: "c1", content: "rain" }] },
    ],
  },
  {
    name: "OpenTelemetry's parts",
    list: [
      { role: "user", parts: [{ type: "text", content: "Weather?" }] },
      { role: "assistant", parts: [{ type: "tool_call", id: "c1", name: "weather", arguments: { city: "Paris" } }] },
      { role: "tool", parts: [{ type: "tool_call_response", id: "c1", response: "rain" }] },
    ],
  },
  {
    name: "constructors of LangChain",
    list: [
      {
        lc: 1,
        type: "constructor",
        id: ["langchain_core", "messages", "HumanMessage"],
        kwargs: { content: "Weather?" },
      },
      { lc: 1, type: "constructor", id: ["x", "AIMessage"], kwargs: { content: "", tool_calls: [WEATHER] } },
      { lc: 1, type: "constructor", id: ["x", "ToolMessage"], kwargs: { tool_call_id: "c1", content: "rain" } },
    ],
  },
];

for (const { name, list } of FORMS) {
  test(`a tool call carries its result: ${name} (messages.2)`, () => {
    const read = readMessages(list).map(({ speaker, text, calls }) => ({ speaker, text, calls }));
    assert.deepEqual(read, [
      { speaker: "human", text: "Weather?", calls: [] },
      { speaker: "ai", text: "", calls: [{ ...WEATHER, result: "rain", failed: false }] },
    ]);
  });
}

test("a result without a call is a separate message, and a failed one is marked (messages.2)", () => {
  const alone = readMessages([{ type: "tool", tool_call_id: "c9", content: "lost" }]);
  assert.deepEqual(
    alone.map(({ speaker, text }) => [speaker, text]),
    [["tool", "lost"]],
  );
  const failed = readMessages([
    { type: "ai", content: "", tool_calls: [WEATHER] },
    { type: "tool", tool_call_id: "c1", content: "no", status: "error" },
  ]);
  assert.equal(failed[0]?.calls[0]?.failed, true);
});

test("distinguishes reasoning, images and unknown parts; remote images are links (messages.1)", () => {
  const [message] = readMessages([
    {
      type: "ai",
      content: [
        { type: "thinking", thinking: "hm" },
        { type: "text", text: "Look" },
        { type: "refusal", refusal: "No." },
        { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
        { type: "image_url", image_url: { url: "https://stranger.example/a.png" } },
        { type: "hologram" },
      ],
    },
  ]);
  assert.equal(message?.reasoning, "hm");
  assert.equal(message?.text, "Look\nNo.");
  assert.deepEqual(message?.images, ["data:image/png;base64,AA=="]);
  assert.deepEqual(message?.links, ["https://stranger.example/a.png"]);
  assert.deepEqual(message?.others, [{ type: "hologram" }]);
});

for (const part of [
  { type: "image_url", image_url: { url: "attachment:image-2" } },
  { type: "image", source: { type: "base64", media_type: "image/png", data: "attachment:image-2" } },
  { type: "blob", mime_type: "image/png", content: "attachment:image-2" },
  { inlineData: { mimeType: "image/png", data: "attachment:image-2" } },
])
  test(`an image of ${JSON.stringify(part).slice(0, 30)}… that the collector keeps apart is an image`, () => {
    const [message] = readMessages([{ type: "human", content: [part] }]);
    assert.deepEqual([message?.images, message?.others, message?.text], [["attachment:image-2"], [], ""]);
  });

test("a document that the collector keeps apart is a file, with its name or its type", () => {
  const [message] = readMessages([
    {
      role: "user",
      content: [
        { type: "file", source_type: "base64", data: "attachment:file-1", mime_type: "application/pdf" },
        { type: "file", file: { file_data: "attachment:file-2" }, filename: "order.pdf" },
        { type: "file", source_type: "id", id: "file-abc" },
      ],
    },
  ]);
  assert.deepEqual(message?.files, [
    { reference: "attachment:file-1", label: "application/pdf" },
    { reference: "attachment:file-2", label: "order.pdf" },
  ]);
  assert.deepEqual(message?.others, [{ type: "file", source_type: "id", id: "file-abc" }]);
});

const VALUES: readonly (readonly [name: string, value: unknown, count: number | null])[] = [
  ["a state", { messages: [{ type: "human", content: "a" }], other: 1 }, 1],
  ["batches of messages", { messages: [[{ type: "human", content: "a" }]] }, 1],
  ["choices of a reply", { choices: [{ message: { role: "assistant", content: "a" } }] }, 1],
  ["generations", { generations: [[{ message: { type: "ai", content: "a" } }]] }, 1],
  ["one message", { role: "assistant", content: "a" }, 1],
  ["one message as output", { output: { type: "ai", content: "a" } }, 1],
  ["a list of other things", [1, 2], null],
  ["no object", "text", null],
  ["null", null, null],
  ["an empty list", [], null],
  ["something with a type of its own", { type: "order", content: 1 }, null],
];

for (const [name, value, count] of VALUES) {
  test(`messages are found, or none: ${name}`, () => assert.equal(messagesIn(value)?.length ?? null, count));
}
