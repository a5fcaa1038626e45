import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { jsonRequest, protobufRequest, buildSpan } from "../../../../test/fakes/otlp.ts";
import { turnsDuring } from "../../../../test/fakes/turns.ts";
import { decode, decompress } from "./decode-body.ts";

describe("a large body is decoded in turns, a small one at once", () => {
  const large = Array.from({ length: 15_000 }, (_, index) => buildSpan(index, 0));
  for (const [format, buildBody] of [
    ["json", (spans: typeof large) => Buffer.from(jsonRequest(spans))],
    ["protobuf", protobufRequest],
  ] as const)
    test(`decode-body.2 ${format}`, async () => {
      const turns = await turnsDuring(() => decode(buildBody(large), format, "traces"));
      assert.ok(turns > 1, `${turns} turns`);
      assert.ok(!(decode(buildBody(large.slice(0, 3)), format, "traces") instanceof Promise));
    });
});

describe("gzip is decompressed", () => {
  const limits = { bytesMax: 1024 * 1024, grow: () => true };
  const [long, short] = [Buffer.alloc(300_000, "some text "), Buffer.from("end")];
  for (const [name, wire, content] of [
    ["one member", gzipSync(long), long],
    ["a member smaller than the last piece", gzipSync(short), short],
    ["nothing", gzipSync(""), Buffer.alloc(0)],
    ["a last member that is short", Buffer.concat([gzipSync(long), gzipSync(short)]), Buffer.concat([long, short])],
    ["content that repeats itself", gzipSync(Buffer.alloc(900_000)), Buffer.alloc(900_000)],
  ] as const)
    test(name, async () => {
      const body = await decompress(wire, "gzip", limits);
      assert.deepEqual(body, content);
    });

  test("decode-body.1 a size that is a lie is refused, and one above the limit is too large", async () => {
    const lie = gzipSync(short);
    lie.writeUInt32LE(0xffff_ffff, lie.length - 4);
    await assert.rejects(decompress(lie, "gzip", limits), /not valid gzip/);
    await assert.rejects(decompress(Buffer.from("1f"), "gzip", limits), /not valid gzip/);
    await assert.rejects(decompress(gzipSync(Buffer.alloc(2_000_000)), "gzip", limits), /exceeds the size limit/);
  });
});
