// Property: each attribute value of a span is in its run, or repeats an alias, or is transport noise.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { AttributeValue } from "../otlp/span.ts";
import { knownNames } from "./attributes/known-keys.ts";
import { CONTEXT, type Given, spanOf } from "./testkit.ts";
import { createExplainer } from "./translate.ts";

const explain = createExplainer({ filterNonGenAi: false, genericOtel: false, project: "" });
const LONG = { numRuns: 20_000 };
const SHORT = { numRuns: 300, seed: 1 };

/** Vectors become their number and length, attachments become bytes. */
const SUMMARISED = /^ai\.embeddings?$|^embedding\.|^langsmith\.attachments$/;
const KINDS = [
  "langsmith.span.kind",
  "gen_ai.operation.name",
  "openinference.span.kind",
  "ai.operationId",
  "llm.request.type",
  "traceloop.span.kind",
];
const KIND_VALUES = ["llm", "chat", "tool", "execute_tool", "retriever", "embeddings", "AGENT", "ai.toolCall", "x"];

/** A value that no other attribute of the span has, in the shapes that the rules read. */
const shaped = (mark: string): fc.Arbitrary<AttributeValue> =>
  fc.constantFrom<AttributeValue>(
    mark,
    JSON.stringify({ [mark]: mark }),
    JSON.stringify([{ role: "user", content: mark }]),
    JSON.stringify([{ role: "assistant", parts: [{ type: "text", content: mark }] }]),
    JSON.stringify([mark]),
    [mark, mark],
    { keys: ["a"], values: [mark] },
  );

const attributesOf = fc
  .subarray(
    knownNames().filter((name) => !SUMMARISED.test(name) && !KINDS.includes(name)),
    {
      minLength: 1,
      maxLength: 12,
    },
  )
  .chain((names) => fc.tuple(...names.map((name, at) => fc.tuple(fc.constant(name), shaped(`mark-${at}-`)))))
  .chain((entries) =>
    fc
      .dictionary(fc.constantFrom(...KINDS), fc.constantFrom(...KIND_VALUES), { maxKeys: 2 })
      .map((kinds): Given => ({ ...kinds, ...Object.fromEntries(entries) })),
  );

test("every attribute survives, next to any other", () => {
  fc.assert(
    fc.property(attributesOf, (given) => {
      const { run, attributes } = explain(spanOf({ attributes: given }), CONTEXT);
      const text = JSON.stringify(run);
      const fields = new Map(attributes.map((one) => [one.attribute, one.fields.join(", ")]));
      for (const [name, value] of Object.entries(given)) {
        const mark = /mark-\d+-/.exec(JSON.stringify(value))?.[0];
        if (mark === undefined || /left out/.test(fields.get(name) ?? "")) continue;
        assert.ok(text.includes(mark), `${name} went to ${fields.get(name)}, and is not there`);
      }
    }),
    process.env["HOLDPOINT_FAULTS"] === "full" ? LONG : SHORT,
  );
});
