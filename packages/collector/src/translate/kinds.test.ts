// Kinds of payloads that reports of bugs had: what a run of them must be, beyond the forms of content.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { member } from "./attributes/indexed.ts";
import { type Case, translateContent, parseExtra, parsed, table, translated, type Given } from "./testkit.ts";

const CHAT: Given = {
  "gen_ai.operation.name": "chat",
  "gen_ai.provider.name": "openai",
  "gen_ai.request.model": "gpt-4o",
};
const USAGE = { input_tokens: 100, output_tokens: 20, total_tokens: 120 };

/** The usage of an API, in the words of each, with 60 cached tokens inside or on top of the input. */
const SPELLINGS: Readonly<Record<string, Json>> = {
  OpenAI: {
    prompt_tokens: 100,
    completion_tokens: 20,
    total_tokens: 120,
    prompt_tokens_details: { cached_tokens: 60 },
  },
  "OpenAI Responses": {
    input_tokens: 100,
    output_tokens: 20,
    total_tokens: 120,
    input_tokens_details: { cached_tokens: 60 },
  },
  "OpenAI in camel case": {
    promptTokens: 100,
    completionTokens: 20,
    totalTokens: 120,
    promptTokensDetails: { cachedTokens: 60 },
  },
  Anthropic: { input_tokens: 40, output_tokens: 20, cache_read_input_tokens: 60 },
  Bedrock: { inputTokens: 40, outputTokens: 20, cacheReadInputTokens: 60 },
  Gemini: { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120, cachedContentTokenCount: 60 },
  "Gemini in snake case": { prompt_token_count: 100, candidates_token_count: 20, cached_content_token_count: 60 },
  DeepSeek: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, prompt_cache_hit_tokens: 60 },
  Cohere: { billed_units: { input_tokens: 1 }, tokens: { input_tokens: 100, output_tokens: 20 }, cached_tokens: 60 },
  "AI SDK": { inputTokens: 100, outputTokens: 20, totalTokens: 120, cachedInputTokens: 60 },
};

describe("usage", () => {
  const wanted = { ...USAGE, input_token_details: { cache_read: 60 } };
  for (const [api, usage] of Object.entries(SPELLINGS)) {
    test(`${api}: in the answer`, () => {
      const answer = { choices: [{ message: { role: "assistant", content: "Hi" } }], usage };
      const run = translateContent({
        attributes: { "openinference.span.kind": "LLM", "output.value": JSON.stringify(answer) },
      });
      assert.deepEqual(parseExtra(run).metadata["usage_metadata"], wanted);
    });
    if (!["Anthropic", "Bedrock", "Cohere"].includes(api))
      test(`${api}: in Langfuse's details`, () => {
        const attributes = {
          "langfuse.observation.type": "generation",
          "langfuse.observation.usage_details": JSON.stringify(usage),
        };
        assert.deepEqual(parseExtra(translateContent({ attributes })).metadata["usage_metadata"], wanted);
      });
  }
  for (const [name, key] of Object.entries({
    OpenLIT: "gen_ai.usage.prompt_tokens_details.cache_read",
    ".NET": "gen_ai.usage.cached_input_tokens",
    ".NET, as it counts": "gen_ai.usage.cached_input_token_count",
    Logfire: "gen_ai.usage.details.cached_tokens",
    conventions: "gen_ai.usage.cache_read.input_tokens",
  }))
    test(`${name}: as an attribute`, () => {
      const attributes = { ...CHAT, "gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 20, [key]: 60 };
      assert.deepEqual(parseExtra(translateContent({ attributes })).metadata["usage_metadata"], wanted);
    });

  test("Logfire: the usage as it came", () => {
    const raw = { prompt_tokens: 100, prompt_tokens_details: { cached_tokens: 60 } };
    const counts = { "gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 20 };
    const attributes = { ...CHAT, ...counts, "gen_ai.usage.raw": JSON.stringify(raw) };
    assert.deepEqual(parseExtra(translateContent({ attributes })).metadata["usage_metadata"], wanted);
  });

  test("Titan: each text has the number of its tokens", () => {
    const answer = { inputTextTokenCount: 100, results: [{ outputText: "Hi", tokenCount: 20 }] };
    const attributes = { "openinference.span.kind": "LLM", "output.value": JSON.stringify(answer) };
    assert.deepEqual(parseExtra(translateContent({ attributes })).metadata["usage_metadata"], USAGE);
  });

  test("Gemini's in Langfuse's details: the cached tokens are in the total, the thoughts beside it", () => {
    const usage = {
      promptTokenCount: 100,
      cachedContentTokenCount: 60,
      candidatesTokenCount: 15,
      thoughtsTokenCount: 5,
      totalTokenCount: 120,
    };
    const attributes = {
      "langfuse.observation.type": "generation",
      "langfuse.observation.usage_details": JSON.stringify(usage),
    };
    assert.deepEqual(parseExtra(translateContent({ attributes })).metadata["usage_metadata"], {
      ...wanted,
      output_token_details: { reasoning: 5 },
    });
  });

  const ANTHROPIC = { input_tokens: 40, output_tokens: 20, cache_read_input_tokens: 60 };
  const BODY = { role: "assistant", content: "Hi" };
  const OWN: readonly (readonly [name: string, attributes: Given, becomes: JsonObject | undefined])[] = [
    [
      "Anthropic's counts, which the instrumentation has added",
      {
        "llm.token_count.prompt": 100,
        "llm.token_count.completion": 20,
        "output.value": JSON.stringify({ ...BODY, usage: ANTHROPIC }),
      },
      wanted,
    ],
    [
      "Anthropic's counts, which the instrumentation has copied",
      {
        "llm.token_count.prompt": 40,
        "llm.token_count.completion": 20,
        "output.value": JSON.stringify({ ...BODY, usage: ANTHROPIC }),
      },
      wanted,
    ],
    [
      "Ollama's among the members of the reply",
      { "output.value": JSON.stringify({ message: BODY, prompt_eval_count: 100, eval_count: 20 }) },
      USAGE,
    ],
    [
      "Llama's on Bedrock",
      { "output.value": JSON.stringify({ generation: "Hi", prompt_token_count: 100, generation_token_count: 20 }) },
      USAGE,
    ],
    [
      "watsonx's in its result",
      {
        "output.value": JSON.stringify({
          results: [{ generated_text: "Hi", generated_token_count: 20, input_token_count: 100 }],
        }),
      },
      USAGE,
    ],
    [
      "Cohere's first chat API",
      {
        "output.value": JSON.stringify({
          text: "Hi",
          finish_reason: "COMPLETE",
          meta: { tokens: { input_tokens: 100, output_tokens: 20 } },
        }),
      },
      USAGE,
    ],
    [
      "LlamaIndex's beside the message",
      {
        "output.value": JSON.stringify({
          message: BODY,
          additional_kwargs: { prompt_tokens: 100, completion_tokens: 20 },
        }),
      },
      USAGE,
    ],
    ...["response_usage", "raw"].map((name): (typeof OWN)[number] => {
      const usage = { input_tokens: 100, output_tokens: 20 };
      const held = { ...BODY, [name]: name === "raw" ? { usage } : usage };
      return [`a message with ${name}`, { "output.value": JSON.stringify(held) }, USAGE];
    }),
    [
      "OpenAI Agents' details in lists",
      {
        "output.value": JSON.stringify({
          output: [BODY],
          usage: { inputTokens: 100, outputTokens: 20, totalTokens: 120, inputTokensDetails: [{ cached_tokens: 60 }] },
        }),
      },
      wanted,
    ],
    [
      "LangChain's details, which only the message has",
      {
        "output.value": JSON.stringify({
          generations: [
            [
              {
                text: "Hi",
                message: {
                  lc: 1,
                  type: "constructor",
                  id: ["AIMessage"],
                  kwargs: { content: "Hi", usage_metadata: wanted },
                },
              },
            ],
          ],
          llm_output: { token_usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } },
        }),
      },
      wanted,
    ],
    [
      "OpenRouter's with its cost",
      {
        "output.value": JSON.stringify({
          choices: [{ message: BODY }],
          usage: { prompt_tokens: 100, completion_tokens: 20, cost: 0.002 },
        }),
      },
      { total_cost: 0.002, ...USAGE },
    ],
    ["no tokens, and costs of 0", { "llm.cost.total": 0, "llm.cost.prompt": 0 }, undefined],
  ];
  for (const [name, attributes, becomes] of OWN)
    test(name, () => {
      const run = translateContent({ attributes: { "openinference.span.kind": "LLM", ...attributes } });
      assert.deepEqual(parseExtra(run).metadata["usage_metadata"], becomes);
    });

  test("Langfuse adds up what no name of the table says", () => {
    const usage = { input: 40, input_cached_tokens: 60, output: 15, output_accepted_prediction_tokens: 5, total: 120 };
    const attributes = {
      "langfuse.observation.type": "generation",
      "langfuse.observation.usage_details": JSON.stringify(usage),
    };
    const read = parseExtra(translateContent({ attributes })).metadata["usage_metadata"];
    assert.deepEqual([member(read, "input_tokens"), member(read, "total_tokens")], [100, 120]);
  });

  test("a cost of 0 beside tokens is none", () => {
    const attributes = {
      ...CHAT,
      "gen_ai.usage.input_tokens": 100,
      "gen_ai.usage.output_tokens": 20,
      "gen_ai.usage.cost": 0,
    };
    const { metadata } = parseExtra(translateContent({ attributes }));
    assert.deepEqual(metadata["usage_metadata"], USAGE);
    assert.equal(member(metadata["otel"], "attributes", "gen_ai.usage.cost"), 0);
  });
});

describe("models and providers", () => {
  const MODELS: readonly (readonly [
    provider: string,
    model: string,
    becomes: readonly [string | undefined, string],
  ])[] = [
    ["", "googleai/gemini-2.5-flash", ["google_genai", "gemini-2.5-flash"]],
    ["", "vertexai/gemini-2.5-flash", ["google_vertexai", "gemini-2.5-flash"]],
    ["", "openai/gpt-4o", ["openai", "gpt-4o"]],
    ["openai", "openai/gpt-4o", ["openai", "gpt-4o"]],
    ["openrouter", "openai/gpt-4o", ["openrouter", "openai/gpt-4o"]],
    ["", "models/gemini-2.5-flash", [undefined, "gemini-2.5-flash"]],
    [
      "vertex_ai",
      "projects/p/locations/l/publishers/google/models/gemini-2.5-flash",
      ["google_vertexai", "gemini-2.5-flash"],
    ],
    ["", "meta-llama/Llama-3", [undefined, "meta-llama/Llama-3"]],
  ];
  for (const [provider, model, [said, name]] of MODELS)
    test(`${provider} ${model}`, () => {
      const attributes = {
        "gen_ai.request.model": model,
        ...(provider === "" ? {} : { "gen_ai.provider.name": provider }),
      };
      const { metadata, params } = parseExtra(translateContent({ attributes }));
      assert.deepEqual([metadata["ls_provider"], metadata["ls_model_name"], params["model"]], [said, name, model]);
    });
});

describe("what a span is", () => {
  const MCP_PROMPT = { "mcp.method.name": "prompts/get", "gen_ai.prompt.name": "greet" };
  const TYPES: readonly (readonly [name: string, attributes: Given, type: string])[] = [
    ["the arguments of a tool alone", { "gen_ai.tool.call.arguments": "{}" }, "tool"],
    ["the result of a tool alone", { "gen_ai.tool.call.result": "12" }, "tool"],
    ["MCP calls a tool", { "mcp.method.name": "tools/call", "gen_ai.tool.name": "t" }, "tool"],
    ["MCP gets a prompt", { "mcp.method.name": "prompts/get", "gen_ai.tool.name": "t" }, "prompt"],
    ["MCP gets a prompt, in any operation", { ...MCP_PROMPT, "gen_ai.operation.name": "execute_tool" }, "prompt"],
    ["MCP lists tools", { "mcp.method.name": "tools/list" }, "chain"],
    ["a database of vectors", { "db.system": "qdrant" }, "retriever"],
    ["another name of its attribute", { "db.system.name": "milvus" }, "retriever"],
    ["a write to a database of vectors", { "db.system": "qdrant", "db.operation.name": "upsert" }, "chain"],
    [
      "a search for vectors in another database",
      { "db.system": "postgresql", "db.vector.query.top_k": 3n },
      "retriever",
    ],
    ["any other database", { "db.system": "postgresql" }, "chain"],
    ["a request of ADK's without a model", { "gcp.vertex.agent.llm_request": '{"contents":[]}' }, "llm"],
  ];
  for (const [name, attributes, type] of TYPES)
    test(name, () => assert.equal(translateContent({ attributes }).runType, type));

  test("the filter keeps a write of vectors", () => {
    const attributes = { "db.system": "chroma", "db.operation": "add" };
    assert.ok(translated({ attributes }, { filterNonGenAi: true }).content !== null);
  });

  test("a vector that was searched for becomes its length", () => {
    const name = "db.query.embeddings.vector";
    const events = [{ name: "db.query.embeddings", attributes: { [name]: "[0.1,0.2,0.3,0.4]" } }];
    const [event] = JSON.parse(translateContent({ events }).events) as { readonly attributes: object }[];
    assert.deepEqual(event?.attributes, { [name]: { count: 1, dimensions: 4 } });
  });

  test("the filter keeps a search for vectors", () =>
    assert.ok(translated({ attributes: { "db.system": "chroma" } }, { filterNonGenAi: true }).content !== null));

  test("a span that has not ended is no run", () =>
    assert.equal(translated({ attributes: { ...CHAT, "logfire.span_type": "pending_span" } }).content, null));
});

describe("nothing twice", () => {
  const TEXT = "A question of some length";
  const MESSAGES = [{ role: "user", content: TEXT }];
  const FLAT: Given = {
    "openinference.span.kind": "LLM",
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.content": TEXT,
  };
  const BODIES: Readonly<Record<string, Given>> = {
    "the items of OpenAI's Responses": { ...FLAT, "input.value": JSON.stringify({ input: MESSAGES }) },
    "a list of messages": { ...FLAT, "input.value": JSON.stringify(MESSAGES) },
    "Gemini's contents": {
      ...FLAT,
      "input.value": JSON.stringify({ contents: [{ role: "user", parts: [{ text: TEXT }] }] }),
    },
    "the same text as a block": {
      ...FLAT,
      "llm.input_messages.0.message.contents.0.message_content.type": "text",
      "llm.input_messages.0.message.contents.0.message_content.text": TEXT,
    },
    "Logfire's events and its request": {
      ...CHAT,
      request_data: JSON.stringify({ model: "gpt-4o", messages: MESSAGES }),
      events: JSON.stringify([{ "event.name": "gen_ai.user.message", content: TEXT, role: "user" }]),
    },
    "a request with the model of the parameters": {
      "openinference.span.kind": "EMBEDDING",
      "embedding.model_name": "text-embedding-3-small",
      "embedding.embeddings.0.embedding.text": TEXT,
      "input.value": JSON.stringify({ input: TEXT, model: "text-embedding-3-small" }),
    },
    "the text alone": { ...FLAT, "input.value": TEXT },
    "items behind instructions, which only the attributes have": {
      ...FLAT,
      "llm.input_messages.0.message.role": "system",
      "llm.input_messages.0.message.content": "Be kind.",
      "llm.input_messages.1.message.role": "user",
      "llm.input_messages.1.message.content": TEXT,
      "input.value": JSON.stringify([{ type: "message", role: "user", content: TEXT, id: "m1" }]),
    },
    "a response with the instructions of its request": {
      "openinference.span.kind": "LLM",
      "llm.input_messages.0.message.role": "system",
      "llm.input_messages.0.message.content": TEXT,
      "llm.output_messages.0.message.role": "assistant",
      "llm.output_messages.0.message.content": "Hi",
      "output.value": JSON.stringify({
        object: "response",
        instructions: TEXT,
        output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "Hi" }] }],
      }),
    },
    "a prompt of OpenAI's completions": {
      "openinference.span.kind": "LLM",
      "llm.prompts.0.prompt.text": TEXT,
      "input.value": JSON.stringify({ model: "m", prompt: TEXT }),
    },
    "an answer of OpenAI's completions": {
      "openinference.span.kind": "LLM",
      "llm.choices.0.completion.text": TEXT,
      "output.value": JSON.stringify({ choices: [{ text: TEXT, index: 0 }] }),
    },
    "another attribute in another form": {
      ...CHAT,
      "gen_ai.input.messages": JSON.stringify(MESSAGES),
      "gen_ai.prompt": JSON.stringify({ contents: [{ role: "user", parts: [{ text: TEXT }] }] }),
    },
  };
  for (const [name, attributes] of Object.entries(BODIES))
    test(name, () => assert.equal(JSON.stringify(translateContent({ attributes })).split(TEXT).length - 1, 1));

  test("stop sequences", () => {
    const stop = { "gen_ai.request.stop_sequences": ["STOP-HERE"], "ai.settings.stopSequences": ["STOP-HERE"] };
    const run = translateContent({ attributes: { ...CHAT, ...stop } });
    assert.equal(JSON.stringify(run).split("STOP-HERE").length - 1, 1);
  });

  test("bytes as a list of numbers are an attachment", () => {
    const bytes = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(3000, 7)]);
    const run = translateContent({ attributes: { "input.value": JSON.stringify({ picture: { image: bytes } }) } });
    assert.deepEqual(
      run.attachments.map(({ mimeType }) => mimeType),
      ["image/png"],
    );
    assert.ok(run.inputs.length < 200);
  });
});

describe("content", () => {
  const cut = (more: string): Given => ({
    ...CHAT,
    "gen_ai.input.messages": `[{"role":"system","content":"Be kind."},${more}`,
  });
  table([
    {
      name: "JSON that was cut off keeps its complete messages",
      span: { attributes: cut('{"role":"user","parts":[{"type":"text","content":"A long q') },
      run: {
        inputs: {
          messages: [{ role: "system", content: "Be kind." }],
          truncated: '{"role":"user","parts":[{"type":"text","content":"A long q',
        },
      },
    },
    {
      name: "JSON that was cut off in its first message is text",
      span: { attributes: { ...CHAT, "gen_ai.input.messages": '[{"role":"user","content":"A long q' } },
      run: { inputs: { input: '[{"role":"user","content":"A long q' } },
    },
    ...(
      [
        [
          "an object",
          { a: "b", list: [1, 2], deep: { c: "a long text" } },
          8,
          { a: "b", list: [1, 2] },
          '"deep":{"c":"a long',
        ],
        [
          "a request",
          {
            model: "m",
            messages: [
              { role: "system", content: "Be kind." },
              { role: "user", content: "A long text" },
            ],
          },
          9,
          { messages: [{ role: "system", content: "Be kind." }], model: "m" },
          '{"role":"user","content":"A long',
        ],
        [
          "a request of Gemini's",
          { contents: [{ parts: [{ text: "Hi" }, { text: "A long text" }], role: "user" }] },
          26,
          { messages: [{ role: "user", content: "Hi" }] },
          '{"text":"A lon',
        ],
        [
          "a request without a whole message",
          { model: "m", messages: [{ role: "user", content: "A" }] },
          5,
          { model: "m" },
          '"messages":[{"role":"user","content":"',
        ],
        [
          "JSON in a JSON string",
          JSON.stringify([
            { role: "user", content: "Hi" },
            { role: "user", content: "A long text" },
          ]),
          12,
          { messages: [{ role: "user", content: "Hi" }] },
          '{"role":"user","content":"A lo',
        ],
      ] as const
    ).map(([what, whole, missing, becomes, truncated]) => ({
      name: `${what} that was cut off`,
      span: { attributes: { ...CHAT, "input.value": JSON.stringify(whole).slice(0, -missing) } },
      run: { inputs: { ...becomes, truncated } },
    })),
    ...["{name} is here", '{"a" is no JSON', "[1, 2) is an interval", '{"a":1} and more', '[{"a":1}] and more'].map(
      (text) => ({
        name: `no JSON: ${text}`,
        span: { attributes: { ...CHAT, "input.value": text } },
        run: { inputs: { input: text } },
      }),
    ),
    {
      name: "Azure's agents, each detail an event of its own",
      span: {
        attributes: CHAT,
        events: [
          {
            name: "gen_ai.input.messages",
            attributes: { "gen_ai.event.content": '[{"role":"user","parts":[{"type":"text","content":"Hi"}]}]' },
          },
          {
            name: "gen_ai.output.messages",
            attributes: {
              "gen_ai.event.content": '[{"role":"assistant","parts":[{"type":"text","content":"Hello"}]}]',
            },
          },
        ],
      },
      run: {
        inputs: { messages: [{ role: "user", content: "Hi" }] },
        outputs: { messages: [{ role: "assistant", content: "Hello" }] },
      },
    },
    {
      name: "a choice with Gemini's content as JSON",
      span: {
        attributes: CHAT,
        events: [{ name: "gen_ai.choice", attributes: { content: '{"role":"model","parts":[{"text":"Hello"}]}' } }],
      },
      run: { outputs: { messages: [{ role: "assistant", content: "Hello" }] } },
    },
    {
      name: "a text that its sender calls one",
      span: { attributes: { "output.value": '{"a":1}', "output.mime_type": "text/plain" } },
      run: { outputs: { text: '{"a":1}' } },
    },
    {
      name: "the same with a character set",
      span: { attributes: { "output.value": '{"a":1}', "output.mime_type": "text/plain; charset=utf-8" } },
      run: { outputs: { text: '{"a":1}' } },
    },
    {
      name: "Logfire's events of a call of Responses: the answer is at the end, and an item is one of its own",
      span: {
        attributes: {
          ...CHAT,
          request_data: '{"input":"Hi","instructions":"Be kind."}',
          events: JSON.stringify([
            { "event.name": "gen_ai.system.message", content: "Be kind.", role: "system" },
            { "event.name": "gen_ai.user.message", content: "Hi", role: "user" },
            {
              "event.name": "gen_ai.unknown",
              role: "unknown",
              content: "reasoning\n\nSee JSON for details",
              data: { type: "reasoning", summary: [{ type: "summary_text", text: "hm" }] },
            },
            { "event.name": "gen_ai.assistant.message", content: "Hello", role: "assistant" },
          ]),
        },
      },
      run: {
        inputs: {
          messages: [
            { role: "system", content: "Be kind." },
            { role: "user", content: "Hi" },
            { role: "assistant", content: [{ type: "reasoning", reasoning: "hm" }] },
          ],
        },
        outputs: { messages: [{ role: "assistant", content: "Hello" }] },
      },
    },
    {
      name: "a part of the user's that Logfire does not know is the user's",
      span: {
        attributes: {
          ...CHAT,
          events: JSON.stringify([
            {
              "event.name": "gen_ai.unknown",
              role: "user",
              content: "input_image\n\nSee JSON for details",
              data: { type: "input_image", image_url: "https://example.com/a.png" },
            },
            { "event.name": "gen_ai.choice", message: { role: "assistant", content: "A cat" } },
          ]),
        },
      },
      run: {
        inputs: {
          messages: [
            { role: "user", content: [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }] },
          ],
        },
      },
    },
    {
      name: "an answer that is an image by its media type",
      span: {
        attributes: { ...CHAT, "output.value": "https://example.com/a.png", "output.mime_type": "image/png" },
      },
      run: {
        outputs: {
          messages: [
            {
              role: "assistant",
              content: [{ type: "image_url", image_url: { url: "https://example.com/a.png" }, mime_type: "image/png" }],
            },
          ],
        },
      },
    },
    {
      name: "an answer of LlamaIndex with its thoughts has the text once",
      span: {
        attributes: {
          ...CHAT,
          "output.value": JSON.stringify({
            message: {
              role: "assistant",
              blocks: [
                { block_type: "thinking", content: "hm" },
                { block_type: "text", text: "Hello" },
              ],
            },
            raw: { id: "r1", choices: [{ message: { role: "assistant", content: "Hello" } }] },
          }),
        },
      },
      run: {
        outputs: {
          messages: [
            {
              role: "assistant",
              content: [
                { type: "reasoning", reasoning: "hm" },
                { type: "text", text: "Hello" },
              ],
            },
          ],
          raw: { id: "r1" },
        },
      },
    },
    {
      name: "Logfire's events beside its request and response",
      span: {
        attributes: {
          ...CHAT,
          request_data: '{"model":"gpt-4o"}',
          response_data: '{"usage":{}}',
          events: JSON.stringify([
            { "event.name": "gen_ai.user.message", content: "Hi", role: "user" },
            { "event.name": "gen_ai.choice", index: 0, message: { role: "assistant", content: "Hello" } },
          ]),
        },
      },
      run: {
        inputs: { messages: [{ role: "user", content: "Hi" }] },
        outputs: { messages: [{ role: "assistant", content: "Hello" }] },
      },
    },
    {
      name: "the texts of ai.embedMany",
      span: { attributes: { "ai.operationId": "ai.embedMany", "ai.values": ['"tea"', '"rain"'] } },
      run: { inputs: { input: ["tea", "rain"] } },
    },
    {
      name: "Pydantic AI's texts to embed",
      span: { attributes: { "gen_ai.operation.name": "embeddings", inputs: '["tea"]' } },
      run: { inputs: { input: ["tea"] } },
    },
    {
      name: "vectors in any answer",
      span: {
        attributes: {
          "openinference.span.kind": "EMBEDDING",
          "output.value": JSON.stringify({ model: "e3", data: [{ embedding: [0.1, 0.2, 0.3, 0.4], index: 0 }] }),
        },
      },
      run: { outputs: { model: "e3", embeddings: { count: 1, dimensions: 4 } } },
    },
    {
      name: "flattened vectors beside the answer that has them",
      span: {
        attributes: {
          "openinference.span.kind": "EMBEDDING",
          "embedding.embeddings.0.embedding.vector": [0.1, 0.2, 0.3, 0.4],
          "output.value": JSON.stringify({
            model: "e3",
            data: [{ embedding: [0.1, 0.2, 0.3, 0.4] }],
            usage: { prompt_tokens: 4, total_tokens: 4 },
          }),
        },
      },
      run: {
        outputs: {
          model: "e3",
          usage: { prompt_tokens: 4, total_tokens: 4 },
          embeddings: { count: 1, dimensions: 4 },
        },
        usage: { input_tokens: 4, total_tokens: 4 },
      },
    },
    {
      name: "Gemini's usage in an answer beside flattened messages",
      span: {
        attributes: {
          "openinference.span.kind": "LLM",
          "llm.output_messages.0.message.role": "model",
          "llm.output_messages.0.message.content": "Hi",
          "output.value": JSON.stringify({
            candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] } }],
            usage_metadata: { prompt_token_count: 4, candidates_token_count: 3 },
          }),
        },
      },
      run: {
        outputs: {
          messages: [{ role: "assistant", content: "Hi" }],
          usage: { prompt_token_count: 4, candidates_token_count: 3 },
        },
        usage: { input_tokens: 4, output_tokens: 3, total_tokens: 7 },
      },
    },
    {
      name: "the events of Google's client: contents and a candidate",
      span: {
        attributes: CHAT,
        events: [
          {
            name: "gen_ai.system.message",
            attributes: { "gen_ai.event.content": '{"content":{"role":"user","parts":[{"text":"Be kind."}]}}' },
          },
          {
            name: "gen_ai.user.message",
            attributes: {
              "gen_ai.event.content": JSON.stringify({
                content: [
                  { role: "user", parts: [{ text: "Weather?" }] },
                  { role: "model", parts: [{ function_call: { id: "c1", name: "weather", args: {} } }] },
                ],
              }),
            },
          },
          {
            name: "gen_ai.choice",
            attributes: {
              "gen_ai.event.content": JSON.stringify({
                index: 0,
                content: { role: "model", parts: [{ text: "Hm", thought: true }, { text: "Warm." }] },
                finish_reason: "STOP",
              }),
            },
          },
        ],
      },
      run: {
        inputs: {
          messages: [
            { role: "system", content: "Be kind." },
            { role: "user", content: "Weather?" },
            {
              role: "assistant",
              content: "",
              tool_calls: [{ id: "c1", type: "function", function: { name: "weather", arguments: "{}" } }],
            },
          ],
        },
        outputs: {
          messages: [
            {
              role: "assistant",
              content: [
                { type: "reasoning", reasoning: "Hm" },
                { type: "text", text: "Warm." },
              ],
              finish_reason: "STOP",
            },
          ],
        },
        events: null,
      },
    },
    ...[
      { "gen_ai.completion.0.content": "Warm.", "gen_ai.completion.0.reasoning": "Hm" },
      { "mastra.model_generation.output": '{"text":"Warm.","reasoningText":"Hm","toolCalls":[]}' },
    ].map((attributes): Case => ({
      name: `reasoning beside the text: ${Object.keys(attributes).at(-1)}`,
      span: { attributes: { ...CHAT, ...attributes } },
      run: {
        outputs: {
          messages: [
            {
              role: "assistant",
              content: [
                { type: "reasoning", reasoning: "Hm" },
                { type: "text", text: "Warm." },
              ],
            },
          ],
        },
      },
    })),
    {
      name: "Genkit's documents",
      span: {
        attributes: {
          "genkit:metadata:subtype": "retriever",
          "genkit:output": JSON.stringify({ documents: [{ content: [{ text: "Tea" }], metadata: { page: 1 } }] }),
        },
      },
      run: {
        type: "retriever",
        outputs: { documents: [{ page_content: "Tea", metadata: { page: 1 }, type: "Document" }] },
      },
    },
    {
      name: "an answer of AgentCore, with its end beside it",
      span: {
        attributes: CHAT,
        events: [
          {
            name: "gen_ai.client.inference.operation.details",
            attributes: {
              "gen_ai.output.messages": JSON.stringify([
                { role: "assistant", content: { message: '[{"text":"Warm."}]', finish_reason: "end_turn" } },
              ]),
            },
          },
        ],
      },
      run: { outputs: { messages: [{ role: "assistant", content: "Warm.", finish_reason: "end_turn" }] } },
    },
    {
      name: "tags of the trace and of the span: each, none twice",
      span: {
        attributes: {
          "langfuse.trace.tags": ["a", "b"],
          "langfuse.tags": "b, c",
          "mastra.tags": '["d"]',
          "tag.tags": 7,
        },
      },
      run: {
        tags: ["a", "b", "c", "d"],
        metadata: { otel: { kind: "internal", scope: { version: "1.0" }, attributes: { "tag.tags": 7 } } },
      },
    },
    {
      name: "metadata and tags of Langfuse's newer names",
      span: { attributes: { "langfuse.metadata.team": "core", "langfuse.tags": ["a"] } },
      run: { metadata: { team: "core" }, tags: ["a"] },
    },
    {
      name: "the function of AI SDK 7 names its root",
      span: {
        name: "invoke_agent gpt-5",
        attributes: {
          "gen_ai.operation.name": "invoke_agent",
          "gen_ai.request.model": "gpt-5",
          "gen_ai.agent.name": "my-function",
        },
      },
      run: { name: "my-function" },
    },
    {
      name: "an error of the model's client",
      span: {
        attributes: CHAT,
        events: [
          {
            name: "gen_ai.client.operation.exception",
            attributes: { "exception.type": "APIError", "exception.message": "no quota" },
          },
        ],
      },
      run: { error: "APIError: no quota" },
    },
    {
      name: "what a log record says of itself is no part of a message",
      span: {
        attributes: CHAT,
        events: [{ name: "gen_ai.user.message", attributes: { content: "Hi", "otel.scope.name": "openai" } }],
      },
      run: { inputs: { messages: [{ role: "user", content: "Hi" }] } },
    },
  ]);

  test("an image without data gives way to the request's", () => {
    const source = { type: "base64", media_type: "image/png", data: "iVBORw==" };
    const attributes = {
      "openinference.span.kind": "LLM",
      "llm.input_messages.0.message.role": "user",
      "llm.input_messages.0.message.contents.0.message_content.type": "image",
      "input.value": JSON.stringify({ messages: [{ role: "user", content: [{ type: "image", source }] }] }),
    };
    assert.deepEqual(parsed(translateContent({ attributes }).inputs), {
      messages: [
        { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,iVBORw==" } }] },
      ],
    });
  });
});
