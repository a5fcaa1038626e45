// Keys and values of hostile and broken senders: everything stays data, every text stays JSON, nothing throws.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { AttributeValue } from "../otlp/span.ts";
import { translateContent, parseExtra, parsed, type Given } from "./testkit.ts";
import { JSON_DEPTH_MAX, type RunContent } from "../shared/trace-run.ts";

const NAMES = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf", "__defineGetter__"];
const PREFIXES = [
  "",
  "gen_ai.prompt.0.",
  "gen_ai.completion.0.",
  "gen_ai.request.",
  "llm.input_messages.0.message.",
  "llm.output_messages.0.message.contents.0.",
  "llm.tools.0.tool.",
  "llm.request.functions.0.",
  "retrieval.documents.0.document.",
  "embedding.embeddings.0.embedding.",
  "langsmith.metadata.",
  "traceloop.association.properties.",
  "ai.telemetry.metadata.",
  "ai.settings.",
];
const CORPUS = PREFIXES.flatMap((prefix) =>
  NAMES.flatMap((name) => [`${prefix}${name}`, `${prefix}${name}.polluted`, `${prefix}constructor.prototype.${name}`]),
);
const JSON_KEYS = [
  "gen_ai.input.messages",
  "gen_ai.prompt",
  "gen_ai.completion",
  "metadata",
  "llm.invocation_parameters",
  "langsmith.usage_metadata",
  "gen_ai.tool.call.arguments",
  "ai.response.providerMetadata",
  "events",
];
const POISON =
  '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"role":"user","parts":[{"type":"text","__proto__":{"polluted":1}}]}';

const OWN_NAMES = JSON.stringify(Object.getOwnPropertyNames(Object.prototype));

function assertClean(): void {
  assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
  assert.equal(([] as unknown as Record<string, unknown>)["polluted"], undefined);
  assert.equal(JSON.stringify(Object.getOwnPropertyNames(Object.prototype)), OWN_NAMES);
}

function texts(content: RunContent): readonly string[] {
  return [content.inputs, content.outputs, content.extra, content.events, content.serialized];
}

describe("keys that mean something to JavaScript", () => {
  test("as attribute names, alone and in every family, they pollute nothing and are kept", () => {
    for (const key of CORPUS) {
      const given = Object.fromEntries([[key, '{"polluted":true}']]) as Given;
      for (const text of texts(translateContent({ resource: given }))) if (text !== "") JSON.parse(text);
      const content = translateContent({ attributes: given });
      assertClean();
      for (const text of texts(content)) if (text !== "") JSON.parse(text);
      if (key.startsWith("embedding.")) continue; // vectors keep only number and length
      assert.ok(
        texts(content).some((text) => text.includes("polluted")),
        `${key} is lost`,
      );
    }
  });

  test("inside JSON text they pollute nothing and are kept", () => {
    for (const key of JSON_KEYS) {
      for (const poison of [POISON, `[${POISON}]`]) {
        const content = translateContent({
          attributes: { [key]: poison },
          events: [{ name: "gen_ai.user.message", attributes: { "gen_ai.event.content": poison } }],
        });
        assertClean();
        assert.ok(
          texts(content).some((text) => text.includes("__proto__")),
          `${key} loses it`,
        );
      }
    }
  });

  test("as own names they arrive as own names", () => {
    const { metadata } = parseExtra(translateContent({ attributes: { "langsmith.metadata.__proto__": "data" } }));
    assert.ok(Object.hasOwn(metadata, "__proto__"));
  });
});

describe("indices and depth", () => {
  test("a giant index makes no giant list", () => {
    const attributes: Record<string, string> = {};
    for (const index of ["4294967295", "99999999999999999999", "4096", "-1", "1e3", "0x10"])
      attributes[`gen_ai.prompt.${index}.content`] = "x";
    attributes["gen_ai.prompt.4095.content"] = "last";
    const content = translateContent({ attributes });
    assert.deepEqual(parsed(content.inputs), { messages: [{ role: "user", content: "last" }] });
  });

  test("a family has a bounded number of entries", () => {
    const keys = Array.from({ length: 60_000 }, (_, at) => `gen_ai.prompt.${at % 4096}.k${at}`);
    const content = translateContent({ attributes: Object.fromEntries(keys.map((key) => [key, 1])) });
    assert.ok(content.inputs.length < 400_000);
  });

  for (const depth of [10, JSON_DEPTH_MAX + 10, 5000, 1_000_000]) {
    test(`JSON of depth ${depth} in a string is used when shallow, else stays text`, () => {
      const deep = "[".repeat(depth) + "]".repeat(depth);
      const inputs = parsed(translateContent({ attributes: { "gen_ai.prompt": deep } }).inputs) as JsonObject;
      if (depth < JSON_DEPTH_MAX) assert.ok(Array.isArray(inputs["input"]));
      else assert.equal(inputs["input"], deep);
    });
  }

  test("50 MB of JSON in one string stay text and are not read", () => {
    const long = `["${"x".repeat(50_000_000)}"]`;
    const content = translateContent({ attributes: { "gen_ai.prompt": long } });
    assert.ok(content.inputs.startsWith('{"input":"[\\"xxx'));
    assert.equal(content.inputs.length, long.length + '{"input":""}'.length + 2);
  });

  test("a deep attribute value is cut at the limit and can be written", () => {
    let value: AttributeValue = "bottom";
    for (let level = 0; level < 5000; level++) value = level % 2 === 0 ? [value] : { keys: ["k"], values: [value] };
    const content = translateContent({ attributes: { deep: value, "gen_ai.prompt": value } });
    for (const text of texts(content)) if (text !== "") JSON.parse(text);
  });
});

describe("numbers", () => {
  test("64-bit integers keep every digit: as attributes, in lists and maps, in JSON text", () => {
    const content = translateContent({
      attributes: {
        big: 1732170000123456789n,
        small: -9223372036854775808n,
        list: [9223372036854775807n],
        map: { keys: ["id"], values: [1732170000123456789n] },
        "gen_ai.tool.name": "t",
        "gen_ai.tool.call.arguments": '{"id":1732170000123456789,"f":1.5}',
        "gen_ai.tool.call.result": "[1732170000123456789]",
      },
    });
    assert.match(
      content.extra,
      /"big":1732170000123456789,"small":-9223372036854775808,"list":\[9223372036854775807\],"map":\{"id":1732170000123456789\}/,
    );
    assert.equal(content.inputs, '{"id":1732170000123456789,"f":1.5}');
    assert.equal(content.outputs, '{"output":[1732170000123456789]}');
  });

  test("every int64 goes through unchanged", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
        const exact = value >= -(2n ** 53n) + 1n && value <= 2n ** 53n - 1n ? Number(value) : value;
        const content = translateContent({ attributes: { n: exact, "gen_ai.prompt": `{"n":[${value}]}` } });
        assert.ok(content.extra.includes(`"n":${value}}`) || content.extra.includes(`"n":${value},`));
        assert.equal(content.inputs, `{"n":[${value}]}`);
      }),
      { numRuns: 2000, verbose: 1 },
    );
  });

  test("integers beyond int64, which backends refuse, become text", () => {
    assert.equal(
      translateContent({ attributes: { "gen_ai.prompt": '{"n":18446744073709551616}' } }).inputs,
      '{"n":"18446744073709551616"}',
    );
  });

  test("a number in JSON text that no double holds becomes text, fractions and large doubles stay", () => {
    const content = translateContent({ attributes: { "gen_ai.prompt": '{"a":1e999,"b":0.1,"c":1e300,"d":-1e999}' } });
    assert.deepEqual(parsed(content.inputs), { a: "1e999", b: 0.1, c: 1e300, d: "-1e999" });
  });

  test("NaN and infinities become text and cost nothing else", () => {
    const content = translateContent({ attributes: { nan: Number.NaN, list: [Infinity, -Infinity], ok: 1 } });
    assert.match(content.extra, /"nan":"NaN","list":\["Infinity","-Infinity"\],"ok":1/);
  });
});

describe("text", () => {
  test("lone surrogates are replaced everywhere, pairs and NUL stay", () => {
    const broken = "a\ud800b";
    const content = translateContent({
      name: broken,
      status: [2, broken],
      scope: broken,
      resource: { [broken]: broken },
      attributes: {
        [broken]: broken,
        "gen_ai.prompt": '{"t":"\\ud800","u":"\\ud83d\\ude00\\u0000"}',
        "gen_ai.completion": broken,
        "langsmith.span.tags": "x",
      },
      events: [{ name: broken, attributes: { [broken]: broken } }],
    });
    for (const text of [...texts(content), content.name, content.error]) {
      assert.ok(text.isWellFormed());
      assert.ok(!/\\ud8/i.test(text), text);
    }
    assert.deepEqual(parsed(content.inputs), { t: "\ufffd", u: "😀\u0000" });
  });
});

test("20,000 hostile attributes make runs whose texts are JSON, and do not change prototypes", () => {
  const json = fc.json({ maxDepth: 4 });
  const scalar: fc.Arbitrary<AttributeValue> = fc.oneof(
    fc.string({ unit: "binary" }),
    json,
    fc.boolean(),
    fc.double(),
    fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
    fc.constant(null),
    fc.constantFrom(...NAMES, POISON, "{", "[", '"', "N/A", "{}"),
  );
  const value: fc.Arbitrary<AttributeValue> = fc.oneof(
    { weight: 4, arbitrary: scalar },
    { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) },
    {
      weight: 1,
      arbitrary: fc
        .array(fc.tuple(fc.constantFrom(...NAMES, "role", "parts", "content"), scalar), { maxLength: 3 })
        .map((pairs) => ({ keys: pairs.map(([key]) => key), values: pairs.map(([, item]) => item) })),
    },
  );
  const key = fc.oneof(
    fc.constantFrom(
      ...CORPUS,
      ...JSON_KEYS,
      "gen_ai.output.messages",
      "gen_ai.system_instructions",
      "ai.prompt",
      "ai.prompt.messages",
      "ai.values",
      "all_messages_events",
      "pydantic_ai.all_messages",
      "gcp.vertex.agent.llm_request",
      "gcp.vertex.agent.llm_response",
      "langsmith.attachments",
      "langsmith.span.kind",
      "gen_ai.operation.name",
      "openinference.span.kind",
      "gen_ai.tool.name",
      "gen_ai.usage.input_tokens",
      "gen_ai.retrieval.documents",
      "ai.response.toolCalls",
      "tools",
    ),
    fc.constantFrom("tool", "llm", "embedding", "retriever").map((kind) => `langsmith.span.kind=${kind}`),
  );
  const entries = fc.array(fc.tuple(key, value), { minLength: 1, maxLength: 24 });
  const names = fc.constantFrom(
    "gen_ai.user.message",
    "gen_ai.choice",
    "exception",
    "gen_ai.client.inference.operation.details",
    "db.query.result",
    "gen_ai.content.prompt",
    "other",
  );
  fc.assert(
    fc.property(entries, entries, names, (attributes, inEvent, name) => {
      const given = Object.fromEntries(
        attributes.map(([at, item]) => (at.includes("=") ? at.split("=") : [at, item]) as [string, AttributeValue]),
      );
      const content = translateContent({
        attributes: given,
        resource: given,
        events: [{ name, attributes: Object.fromEntries(inEvent) }],
      });
      for (const [at, text] of texts(content).entries()) {
        if (text === "") continue;
        assert.ok(text.isWellFormed());
        const read = JSON.parse(text) as Json;
        assert.equal(Array.isArray(read), at === 3);
        assert.equal(typeof read, "object");
      }
      assertClean();
    }),
    { numRuns: 800, verbose: 1 }, // about 25 attributes each
  );
});
