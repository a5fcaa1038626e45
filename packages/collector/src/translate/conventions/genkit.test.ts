// Genkit: spans of genkit 1.42.0.
import { describe } from "node:test";
import { table } from "../testkit.ts";

describe("Genkit", () => {
  table([
    {
      name: "a model call: parts of messages, usage within the output",
      span: {
        name: "googleai/gemini-3-flash",
        scope: "genkit-tracer",
        attributes: {
          "genkit:type": "action",
          "genkit:metadata:subtype": "model",
          "genkit:name": "googleai/gemini-3-flash",
          "genkit:input": JSON.stringify({
            messages: [
              {
                role: "user",
                content: [{ text: "Look" }, { media: { url: "data:image/png;base64,AA==", contentType: "image/png" } }],
              },
              { role: "model", content: [{ toolRequest: { name: "weather", ref: "c1", input: { city: "Paris" } } }] },
              { role: "tool", content: [{ toolResponse: { name: "weather", ref: "c1", output: "rain" } }] },
            ],
            config: { temperature: 0.5 },
          }),
          "genkit:output": JSON.stringify({
            message: { role: "model", content: [{ text: "It rains." }] },
            finishReason: "stop",
            usage: { inputTokens: 10, outputTokens: 4, thoughtsTokens: 2, cachedContentTokens: 5 },
          }),
        },
      },
      run: {
        type: "llm",
        inputs: {
          config: { temperature: 0.5 },
          messages: [
            {
              role: "user",
              content: [
                { type: "text", text: "Look" },
                { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
              ],
            },
            {
              role: "assistant",
              content: "",
              tool_calls: [
                { id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Paris"}' } },
              ],
            },
            { role: "tool", tool_call_id: "c1", name: "weather", content: "rain" },
          ],
        },
        outputs: {
          finishReason: "stop",
          usage: { inputTokens: 10, outputTokens: 4, thoughtsTokens: 2, cachedContentTokens: 5 },
          messages: [{ role: "assistant", content: "It rains." }],
        },
        usage: {
          input_tokens: 10,
          output_tokens: 4,
          total_tokens: 14,
          input_token_details: { cache_read: 5 },
          output_token_details: { reasoning: 2 },
        },
        metadata: { ls_provider: "google_genai", ls_model_name: "gemini-3-flash" },
      },
    },
    {
      name: "the wrapper of a model call: its usage is a sum",
      span: {
        name: "generate",
        attributes: {
          "genkit:type": "util",
          "genkit:name": "generate",
          "genkit:output": JSON.stringify({
            message: { role: "model", content: [{ text: "It rains." }] },
            usage: { inputTokens: 21, outputTokens: 5 },
          }),
        },
      },
      run: {
        type: "chain",
        outputs: {
          usage: { inputTokens: 21, outputTokens: 5 },
          messages: [{ role: "assistant", content: "It rains." }],
        },
        usage: null,
        metadata: { aggregate_usage: { input_tokens: 21, output_tokens: 5, total_tokens: 26 } },
      },
    },
    {
      name: "an embedder: its name is the model",
      span: {
        attributes: {
          "genkit:type": "action",
          "genkit:metadata:subtype": "embedder",
          "genkit:name": "googleai/gemini-embedding",
        },
      },
      run: { type: "embedding", metadata: { ls_provider: "google_genai", ls_model_name: "gemini-embedding" } },
    },
    {
      name: "a prompt",
      span: {
        attributes: { "genkit:metadata:subtype": "prompt", "genkit:name": "greet", "genkit:input": '{"name":"Bo"}' },
      },
      run: { type: "prompt", name: "greet", inputs: { name: "Bo" } },
    },
    {
      name: "the media type and the metadata of parts",
      span: {
        attributes: {
          "genkit:metadata:subtype": "model",
          "genkit:input": JSON.stringify({
            messages: [
              {
                role: "user",
                content: [{ media: { url: "https://x/1", contentType: "image/png" }, metadata: { detail: "high" } }],
              },
            ],
          }),
        },
      },
      run: {
        inputs: {
          messages: [
            {
              role: "user",
              content: [
                {
                  type: "image_url",
                  image_url: { url: "https://x/1" },
                  mime_type: "image/png",
                  metadata: { detail: "high" },
                },
              ],
            },
          ],
        },
      },
    },
  ]);
});
