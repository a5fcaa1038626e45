import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { jsonRequest, protobufRequest, spanOf } from "../../../test/fakes/otlp.ts";
import { turnsDuring } from "../../../test/fakes/turns.ts";
import { decode } from "./decode-body.ts";

describe("a large body is decoded in turns, a small one at once", () => {
  const large = Array.from({ length: 15_000 }, (_, index) => spanOf(index, 0));
  for (const [format, bodyOf] of [
    ["json", (spans: typeof large) => Buffer.from(jsonRequest(spans))],
    ["protobuf", protobufRequest],
  ] as const)
    test(`decode-body.2 ${format}`, async () => {
      const turns = await turnsDuring(() => decode(bodyOf(large), format, "traces"));
      assert.ok(turns > 1, `${turns} turns`);
      assert.ok(!(decode(bodyOf(large.slice(0, 3)), format, "traces") instanceof Promise));
    });
});
