import assert from "node:assert/strict";
import test from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInThisContext } from "node:vm";
import type { Span } from "../../otlp/span.ts";
import { createFactsReader } from "./span-facts.ts";

setFlagsFromString("--allow-natives-syntax");
const hasFastProperties = runInThisContext("(object) => %HasFastProperties(object)") as (object: object) => boolean;

function spanWith(name: string): Span {
  return { name, attributes: { keys: ["gen_ai.system"], values: ["openai"] } } as unknown as Span;
}

test("span-facts.1: one object serves all spans, and names the span it was last read from", () => {
  const reader = createFactsReader();
  const first = reader.read(spanWith("first"), []);
  assert.equal(first.span.name, "first");
  const second = reader.read(spanWith("second"), []);
  assert.equal(second, first);
  assert.equal(second.span.name, "second");
});

test("facts have no member that makes V8 look all of them up in a hash table", () => {
  assert.equal(hasFastProperties(createFactsReader().read(spanWith("one"), [])), true);
  assert.equal(hasFastProperties(createFactsReader().read(spanWith("two"), [])), true);
  const accessor = {
    get span() {
      return null;
    },
    has: () => true,
  };
  assert.equal(hasFastProperties(accessor), false, "the probe sees such members");
});
