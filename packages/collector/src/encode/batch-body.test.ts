import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type BodyEncoding, compress, splitParts, shorten } from "./batch-body.ts";
import { closing } from "./multipart.ts";

describe("a compressed body", () => {
  for (const encoding of ["zstd", "gzip", "identity"] satisfies BodyEncoding[]) {
    for (const bytes of [1, 1000, 100_000, 2_000_000]) {
      test(`batch-body.3 ${encoding} of ${bytes} bytes owns its memory and no more of it than its length`, async () => {
        const raw = Buffer.concat([Buffer.alloc(bytes, "a"), closing("b")]);
        const tenant = { id: "t", apiKey: "key-1", tenantId: "" };
        const parts = { tenant, createdMs: 0, boundary: "b", bytes: raw, rawBytes: bytes, offsets: [0], first: 0 };
        const body = await compress(parts, encoding);
        assert.equal(body.bytes.buffer.byteLength, body.bytes.length);
        assert.notEqual(body.bytes.buffer, raw.buffer);
      });
    }
  }
});

test("an attachment that is too large leaves a note in its place, and is not left out in silence", async () => {
  const part = (name: string, type: string, content: string): string =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}\r\nContent-Length: ${content.length}\r\n\r\n${content}\r\n`;
  const parts = [
    part("post.id", "application/json", "{}"),
    part("attachment.id.photo", "image/png", "x".repeat(50_000)),
  ];
  const raw = Buffer.from(parts.join(""));
  const tenant = { id: "t", apiKey: "key-1", tenantId: "" };
  const bytes = Buffer.concat([raw, closing("b")]);
  const given = { tenant, createdMs: 0, boundary: "b", bytes, rawBytes: raw.length, offsets: [0], first: 0 };
  const shorter = await shorten(await compress(given, "identity"));
  assert.ok(shorter !== null);
  const [, note] = splitParts(shorter);
  assert.deepEqual([note?.name, note?.type], ["attachment.id.photo", "text/plain"]);
  assert.match(note?.content.toString() ?? "", /50000 bytes of image\/png/);
  assert.equal(await shorten(shorter), null);
});
