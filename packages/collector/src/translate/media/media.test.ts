import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import * as fc from "fast-check";
import type { Json } from "@holdpoint/base/json/json.ts";
import { withMedia } from "../../shared/attachment-reference.ts";
import { createMedia } from "./media.ts";

const fillBytes = (head: string): Buffer => Buffer.concat([Buffer.from(head, "latin1"), Buffer.alloc(3_000, 0xa7)]);
const PNG = fillBytes("\x89PNG\r\n\x1a\n");
const PDF = fillBytes("%PDF-1.7\n");
const WAV = fillBytes("RIFF\0\0\0\0WAVE");
const MP3 = fillBytes("ID3");
const ZIP = fillBytes("PK\x03\x04");
const RAW = Buffer.concat([Buffer.from([1, 2, 3]), Buffer.alloc(3_000, 0x55)]);
const base64 = (bytes: Buffer): string => bytes.toString("base64");

/** Parts as senders write them, with the place of the reference. */
const PARTS: readonly (readonly [dialect: string, part: Json, type: string, bytes: Buffer, after: Json])[] = [
  [
    "OpenAI, an image",
    { type: "image_url", image_url: { url: `data:image/png;base64,${base64(PNG)}`, detail: "low" } },
    "image/png",
    PNG,
    { type: "image_url", image_url: { url: "attachment:image-1", detail: "low" } },
  ],
  [
    "OpenAI, a sound",
    { type: "input_audio", input_audio: { data: base64(RAW), format: "pcm16" } },
    "audio/pcm",
    RAW,
    { type: "input_audio", input_audio: { data: "attachment:audio-1", format: "pcm16" } },
  ],
  [
    "OpenAI, a file",
    { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${base64(PDF)}` } },
    "application/pdf",
    PDF,
    { type: "file", file: { filename: "a.pdf", file_data: "attachment:file-1" } },
  ],
  [
    "OpenAI, a made image",
    { type: "image_generation_call", result: base64(PNG) },
    "image/png",
    PNG,
    { type: "image_generation_call", result: "attachment:image-1" },
  ],
  [
    "Anthropic",
    { type: "image", source: { type: "base64", media_type: "image/png", data: base64(PNG) } },
    "image/png",
    PNG,
    { type: "image", source: { type: "base64", media_type: "image/png", data: "attachment:image-1" } },
  ],
  [
    "Google",
    { inlineData: { mimeType: "audio/wav", data: base64(WAV) }, thoughtSignature: base64(RAW) },
    "audio/wav",
    WAV,
    { inlineData: { mimeType: "audio/wav", data: "attachment:audio-1" }, thoughtSignature: base64(RAW) },
  ],
  [
    "Bedrock",
    { image: { format: "png", source: { bytes: base64(PNG) } } },
    "image/png",
    PNG,
    { image: { format: "png", source: { bytes: "attachment:image-1" } } },
  ],
  [
    "GenAI conventions",
    { type: "blob", modality: "video", mime_type: "video/x-any", content: base64(RAW) },
    "video/x-any",
    RAW,
    { type: "blob", modality: "video", mime_type: "video/x-any", content: "attachment:video-1" },
  ],
  [
    "AI SDK",
    { type: "file", data: base64(RAW), mediaType: "application/x-any" },
    "application/x-any",
    RAW,
    { type: "file", data: "attachment:file-1", mediaType: "application/x-any" },
  ],
  [
    "MCP, inside a text",
    { type: "text", text: JSON.stringify({ type: "image", data: base64(PNG), mimeType: "image/png" }) },
    "image/png",
    PNG,
    {
      type: "text",
      text: JSON.stringify({ type: "image", data: "attachment:image-1", mimeType: "image/png" }),
    },
  ],
  [
    "OpenAI, samples",
    { type: "input_audio", audio: base64(RAW) },
    "audio/pcm",
    RAW,
    { type: "input_audio", audio: "attachment:audio-1" },
  ],
  [
    "Mistral",
    { type: "input_audio", input_audio: base64(WAV) },
    "audio/wav",
    WAV,
    { type: "input_audio", input_audio: "attachment:audio-1" },
  ],
  ["ElevenLabs", { audio_base64: base64(MP3) }, "audio/mpeg", MP3, { audio_base64: "attachment:audio-1" }],
  ["Google, speech", { audioContent: base64(MP3) }, "audio/mpeg", MP3, { audioContent: "attachment:audio-1" }],
  [
    "Pydantic AI",
    { kind: "binary", media_type: "application/pdf", binary_content: base64(PDF) },
    "application/pdf",
    PDF,
    { kind: "binary", media_type: "application/pdf", binary_content: "attachment:file-1" },
  ],
  [
    "Bedrock, a table",
    { document: { format: "csv", name: "x", source: { bytes: base64(RAW) } } },
    "text/csv",
    RAW,
    { document: { format: "csv", name: "x", source: { bytes: "attachment:file-1" } } },
  ],
  [
    "Bedrock, a document, the format last",
    { document: { source: { bytes: base64(ZIP) }, format: "docx" } },
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ZIP,
    { document: { source: { bytes: "attachment:file-1" }, format: "docx" } },
  ],
  [
    "Ollama",
    { role: "user", content: "what is it?", images: [base64(PNG), base64(PNG)] },
    "image/png",
    PNG,
    { role: "user", content: "what is it?", images: ["attachment:image-1", "attachment:image-1"] },
  ],
  [
    "a data URL with a space",
    { url: `data:audio/ogg; codecs="vorbis, opus"; base64,${base64(RAW)}` },
    "audio/ogg",
    RAW,
    { url: "attachment:audio-1" },
  ],
  [
    "a data URL without a type",
    { url: `data:;base64,${base64(PDF)}` },
    "application/pdf",
    PDF,
    { url: "attachment:file-1" },
  ],
  [
    "Markdown",
    { type: "text", text: `![chart](data:image/png;base64,${base64(PNG)}) as asked` },
    "image/png",
    PNG,
    { type: "text", text: "![chart](attachment:image-1) as asked" },
  ],
];

for (const [dialect, part, type, bytes, after] of PARTS)
  test(`content becomes an attachment: ${dialect} (media.1)`, () => {
    const media = createMedia([]);
    assert.deepEqual(JSON.parse(media.take(JSON.stringify({ messages: [part] }))), { messages: [after] });
    const [attachment, ...others] = media.attachments();
    assert.deepEqual([attachment?.mimeType, others.length], [type, 0]);
    assert.ok(bytes.equals(attachment?.bytes ?? Buffer.alloc(0)));
  });

const STAYING: readonly (readonly [name: string, value: Json])[] = [
  ["a signature", { type: "thinking", thinking: "…", signature: base64(RAW) }],
  ["encrypted reasoning", { type: "reasoning", encrypted_content: base64(PNG) }],
  ["content of an unknown type", { data: base64(RAW) }],
  ["base64 between other text", { data: `It is ${base64(PNG)}`, mime_type: "image/png" }],
  ["vectors in a list", { data: [base64(RAW), base64(RAW)] }],
  [
    "content of an unknown type beside a source",
    { format: "csv", source: {}, data: base64(RAW).replaceAll("=", "") + "!" },
  ],
  ["a long word", { content: "a".repeat(5_000) }],
  ["a small icon", { url: `data:image/png;base64,${base64(PNG.subarray(0, 600))}` }],
];
for (const [name, value] of STAYING)
  test(`${name} stays in the text (media.1)`, () => {
    const media = createMedia([]);
    const text = JSON.stringify({ value });
    assert.equal(media.take(text), text);
    assert.deepEqual(media.attachments(), []);
  });

test("equal content is one attachment, in all texts of a run (media.2)", () => {
  const given = { name: "image-1", mimeType: "text/plain", bytes: Buffer.from("x") };
  const media = createMedia([given]);
  const part = { url: `data:image/png;base64,${base64(PNG)}` };
  assert.equal(media.take(JSON.stringify([part, part])), '[{"url":"attachment:image-2"},{"url":"attachment:image-2"}]');
  assert.equal(media.take(JSON.stringify(part)), '{"url":"attachment:image-2"}');
  assert.deepEqual(
    media.attachments().map(({ name }) => name),
    ["image-1", "image-2"],
  );
});

test("content beyond the limit of a run stays in the text (media.3)", () => {
  const media = createMedia([]);
  const urls = Array.from({ length: 102 }, (_, at) => {
    const bytes = Buffer.concat([PNG, Buffer.from([at])]);
    return `data:image/png;base64,${base64(bytes)}`;
  });
  const after = JSON.parse(media.take(JSON.stringify(urls))) as readonly string[];
  assert.equal(media.attachments().length, 100);
  assert.deepEqual(after.slice(100), urls.slice(100));
});

test("escapes of other writers of JSON are part of the content (base64-runs.2)", () => {
  const bytes = randomBytes(6_000);
  for (const escape of [
    (text: string) => text.replaceAll("/", "\\/"),
    (text: string) => text.replaceAll("+", "\\u002B"),
  ]) {
    const media = createMedia([]);
    const text = escape(JSON.stringify({ data: base64(bytes), mimeType: "application/x-any" }));
    assert.deepEqual(JSON.parse(media.take(text)), { data: "attachment:file-1", mimeType: "application/x-any" });
    assert.ok(bytes.equals(media.attachments()[0]?.bytes ?? Buffer.alloc(0)));
  }
});

test("base64 in lines, as MIME has it, is one content (base64-runs.2)", () => {
  for (const lineBreak of ["\n", "\r\n"])
    for (const length of [6_000, 6_001]) {
      const bytes = randomBytes(length);
      const lines = base64(bytes).replaceAll(/.{76}/g, `$&${lineBreak}`);
      const parts = [lines, `${lines}${lineBreak}`].map((data) => ({ data, mimeType: "application/x-any" }));
      const urls = [`data:image/png;base64,${lines}`, `data:image/png;base64,${lineBreak}${lines}${lineBreak}`];
      for (const value of [...parts, ...urls]) {
        for (const text of [JSON.stringify([value]), JSON.stringify(JSON.stringify([value]))]) {
          const media = createMedia([]);
          assert.match(media.take(text), /"attachment:(?:file|image)-1\\*"/);
          assert.ok(bytes.equals(media.attachments()[0]?.bytes ?? Buffer.alloc(0)));
        }
      }
    }
});

test("any JSON stays the same value but for its media, which can return to their places (media.4)", () => {
  const urlFor = (bytes: Uint8Array): string => `data:image/png;base64,${Buffer.from(bytes).toString("base64")}`;
  const url = fc.uint8Array({ minLength: 800, maxLength: 3_000 }).map(urlFor);
  const tree = fc.letrec((again) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.string({ unit: "binary" }),
      fc.double(),
      url,
      fc.array(again("value")),
      fc.dictionary(fc.string(), again("value")),
    ),
  })).value;
  fc.assert(
    fc.property(tree, (value) => {
      const media = createMedia([]);
      const text = JSON.stringify(value);
      const after = media.take(text);
      JSON.parse(after);
      const urls = new Map(media.attachments().map((one) => [one.name, urlFor(one.bytes)]));
      assert.equal(
        withMedia(after, (name) => urls.get(name)),
        text,
      );
    }),
    { numRuns: 300 },
  );
});
