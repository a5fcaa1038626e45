import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type BodyEncoding, compress } from "./body.ts";
import { closing } from "./encode.ts";

describe("a compressed body", () => {
  for (const encoding of ["zstd", "gzip", "identity"] satisfies BodyEncoding[]) {
    for (const bytes of [1, 1000, 100_000, 2_000_000]) {
      test(`BO3 ${encoding} of ${bytes} bytes owns its memory and no more of it than its length`, async () => {
        const raw = Buffer.concat([Buffer.alloc(bytes, "a"), closing("b")]);
        const tenant = { id: "t", apiKey: "key-1", tenantId: "" };
        const parts = { tenant, createdMs: 0, boundary: "b", bytes: raw, rawBytes: bytes, offsets: [0], first: 0 };
        const body = await compress(parts, encoding, 1);
        assert.equal(body.bytes.buffer.byteLength, body.bytes.length);
        assert.notEqual(body.bytes.buffer, raw.buffer);
      });
    }
  }
});
