// Redaction: every place of a request that can hold a text, in both encodings, with escapes at every level of nesting.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { jsonLogs, protobufLogs } from "../../../../test/fakes/otlp-logs.ts";
import {
  field,
  jsonRequest,
  protobufRequest,
  buildSpan,
  type TestSpan,
  type TestValue,
} from "../../../../test/fakes/otlp.ts";
import { decode } from "../receive/decode-body.ts";
import type { Attributes, AttributeValue, Span } from "../otlp/span.ts";
import type { WireFormat } from "../otlp/status.ts";
import { createRedactor, type Redactor, type RedactRequest } from "./redact.ts";
import { RedactSchema } from "./redact-schema.ts";

const FORMATS: readonly WireFormat[] = ["protobuf", "json"];
const MAIL = "alice.canary@example.com";
const CARD = "4111 1111 1111 1111";
const TOKEN = "sk-canary0123456789abcdef";

function buildRedactor(rules: unknown, project = ""): Redactor {
  return createRedactor(RedactSchema.parse(rules), { project, hashKey: "hash-key" });
}

function run(redactor: Redactor, request: Partial<RedactRequest> & Pick<RedactRequest, "body">): Buffer {
  const steps = redactor.redact({ format: "protobuf", signal: "traces", project: "", tenantId: "", ...request });
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

function encodeBody(
  spans: readonly TestSpan[],
  format: WireFormat,
  resource?: Readonly<Record<string, TestValue>>,
): Buffer {
  const envelope = resource === undefined ? {} : { resource };
  return format === "json" ? Buffer.from(jsonRequest(spans, "spec", envelope)) : protobufRequest(spans, envelope);
}

async function decodeSpans(body: Buffer, format: WireFormat): Promise<readonly Span[]> {
  return (await decode(body, format, "traces")).spans;
}

function plain({ keys, values }: Attributes): Record<string, unknown> {
  return Object.fromEntries(keys.map((key, index) => [key, plainValue(values[index] ?? null)]));
}

function plainValue(value: AttributeValue): unknown {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  return Array.isArray(value) ? value.map(plainValue) : plain(value as Attributes);
}

const DETECT_ALL = [
  { name: "mail", detect: ["email"] },
  { name: "card", detect: ["card"] },
  { name: "token", detect: ["token"] },
];

/** The result of a rule set for one attribute `given`; undefined when it is dropped. */
async function attributeAfter(rules: unknown, value: TestValue, format: WireFormat, key = "given"): Promise<unknown> {
  const body = run(buildRedactor(rules), {
    body: encodeBody([buildSpan(1, 0, undefined, { attributes: { [key]: value } })], format),
    format,
  });
  const [span] = await decodeSpans(body, format);
  assert.ok(span);
  return plain(span.attributes)[key];
}

const VALUES: readonly (readonly [what: string, given: TestValue, wanted: unknown])[] = [
  ["an address in a text", `mail ${MAIL}.`, "mail [mail]."],
  ["two in one text", `${MAIL},${MAIL}`, "[mail],[mail]"],
  ["one in a URL", "?to=alice%40example.com&x=1", "?to=[mail]&x=1"],
  ["a card number", `card ${CARD}, exp 12/27`, "card [card], exp 12/27"],
  ["a card number and its date", `${CARD} 12/27`, "[card] 12/27"],
  ["a card number as an integer", 4111111111111111n, "[card]"],
  ["a number with a wrong checksum", "4111 1111 1111 1112", "4111 1111 1111 1112"],
  ["a time in nanoseconds", 1732170000123456789n, 1732170000123456789n],
  ["a key", `key=${TOKEN}`, "key=[token]"],
  ["the password of a URL", "postgres://app:hunter2@db/x", "postgres://app:[token]@db/x"],
  ["a private key", "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\nrest", "[token]\nrest"],
  ["an element of a list", ["a", MAIL], ["a", "[mail]"]],
  ["a member of a map", { inner: { to: MAIL } }, { inner: { to: "[mail]" } }],
  ["JSON", JSON.stringify([{ content: MAIL, n: 1 }]), '[{"content":"[mail]","n":1}]'],
  ["an escape in JSON", String.raw`{"to":"alice\u0040example.com"}`, '{"to":"[mail]"}'],
  ["JSON in JSON", JSON.stringify({ args: JSON.stringify({ to: MAIL }) }), JSON.stringify({ args: '{"to":"[mail]"}' })],
  [
    "an escape in JSON in JSON",
    JSON.stringify({ args: String.raw`{"to":"alice\u0040example.com"}` }),
    JSON.stringify({ args: '{"to":"[mail]"}' }),
  ],
  ["a key of JSON", JSON.stringify({ [MAIL]: 1 }), '{"[mail]":1}'],
  ["a number in JSON", '{"pan":4111111111111111}', '{"pan":"[card]"}'],
  ["an escape in JSON that was cut off", String.raw`{"to":"alice\u0040example.com","re`, '{"to":"[mail]","re'],
  [
    "a card number behind the escape of a line break",
    String.raw`{"m":"pay\n${CARD}","re`,
    String.raw`{"m":"pay\n[card]","re`,
  ],
  ["a key behind one, in text of Python", String.raw`{'m': 'key:\t${TOKEN}'}`, String.raw`{'m': 'key:\t[token]'}`],
  [
    "the password of a URL with escapes",
    String.raw`{"to":"db:\/\/app:hunter2@db\/x","re`,
    String.raw`{"to":"db:\/\/app:[token]@db\/x","re`,
  ],
  ["an escape behind other text", String.raw`data: {"to":"alice\u0040example.com"}`, 'data: {"to":"[mail]"}'],
  ["nothing", "hello @ 12:30, id 1234-5678", "hello @ 12:30, id 1234-5678"],
];

for (const format of FORMATS)
  describe(`redaction of ${format}`, () => {
    for (const [what, given, wanted] of VALUES)
      test(`finds ${what}`, async () => {
        assert.deepEqual(await attributeAfter(DETECT_ALL, given, format), wanted);
      });

    test("reaches every text of a span, its resource and its scope", async () => {
      const whole = buildSpan(1, 0, undefined, {
        name: `call ${MAIL}`,
        traceState: `a=${MAIL}`,
        attributes: { given: MAIL, [MAIL]: 1n },
        events: [{ name: `event ${MAIL}`, time: 1n, attributes: { given: MAIL } }],
        links: [{ traceId: "a".repeat(32), spanId: "b".repeat(16), attributes: { given: MAIL } }],
        status: { code: 2, message: `failed for ${MAIL}` },
      });
      const rules = [
        { name: "mail", detect: ["email"] },
        { name: "names", detect: ["email"], in: ["names"] },
      ];
      const redactor = buildRedactor(rules);
      const body = run(redactor, { body: encodeBody([whole], format, { owner: MAIL }), format });
      assert.ok(!body.includes("alice"), body.toString());
      const [span] = await decodeSpans(body, format);
      assert.equal(span?.statusMessage, "failed for [mail]");
      assert.equal(span?.name, "call [names]");
      assert.deepEqual(redactor.counts, [7, 2]);
    });

    test("leaves names alone unless a rule asks for them", async () => {
      const body = encodeBody([buildSpan(1, 0, undefined, { name: MAIL })], format);
      const [span] = await decodeSpans(run(buildRedactor(DETECT_ALL), { body, format }), format);
      assert.equal(span?.name, MAIL);
    });

    test("reaches body and attributes of log records", () => {
      const records = [{ name: "event", body: { to: MAIL, list: [MAIL] }, attributes: { given: MAIL } }];
      const body = format === "json" ? Buffer.from(jsonLogs(records)) : protobufLogs(records);
      const after = run(buildRedactor(DETECT_ALL), { body, format, signal: "logs" });
      assert.ok(!after.includes("alice"), after.toString());
    });

    test("gives the same bytes back when nothing matches", () => {
      const body = encodeBody([buildSpan(1, 0), buildSpan(1, 1, 0)], format);
      assert.equal(run(buildRedactor(DETECT_ALL), { body, format }), body);
    });

    test("paths name attributes, and members of maps and of JSON", async () => {
      const drop = (path: string): unknown => [{ name: "r", attributes: [path], action: "drop" }];
      const json = JSON.stringify({ user: { password: "x", name: "y" }, list: [{ password: "z" }] });
      assert.equal(await attributeAfter(drop("given"), "x", format), undefined);
      assert.equal(await attributeAfter(drop("giv*"), 5n, format), undefined);
      assert.equal(await attributeAfter(drop("other"), "x", format), "x");
      for (const keys of [["a"], ["b"], ["c"], ["a", "b"], ["b", "c"], ["a", "c"], ["a", "b", "c"]]) {
        const left = await attributeAfter(
          [{ name: "r", attributes: keys.map((key) => `given/${key}`), action: "drop" }],
          { a: 1n, b: 2n, c: 3n },
          format,
        );
        const rest = Object.entries({ a: 1, b: 2, c: 3 }).filter(([key]) => !keys.includes(key));
        assert.deepEqual(left, Object.fromEntries(rest));
      }
      assert.deepEqual(await attributeAfter(drop("given/a"), { a: "x", b: "y" }, format), { b: "y" });
      assert.equal(
        await attributeAfter(drop("given/**/password"), json, format),
        JSON.stringify({ user: { password: null, name: "y" }, list: [{ password: null }] }),
      );
      assert.equal(
        await attributeAfter(drop("**/password"), json.replace("password", String.raw`passw\u006frd`), format),
        JSON.stringify({ user: { password: null, name: "y" }, list: [{ password: null }] }),
      );
    });

    test("a rule with a path and a pattern searches that value only", async () => {
      const rules = [{ name: "id", attributes: ["given"], match: "EMP-[0-9]{4}" }];
      assert.equal(await attributeAfter(rules, "by EMP-1234", format), "by [id]");
      assert.equal(await attributeAfter(rules, "by EMP-1234", format, "else"), "by EMP-1234");
    });

    test("hash gives equal texts equal marks, in both encodings", async () => {
      const rules = [{ name: "who", attributes: ["given"], action: "hash" }];
      const [one, other] = await Promise.all(FORMATS.map((form) => attributeAfter(rules, MAIL, form)));
      assert.equal(one, other);
      assert.match(String(one), /^\[who:[0-9a-f]{16}\]$/);
      const found = await attributeAfter([{ name: "who", detect: ["email"], action: "hash" }], MAIL, format);
      assert.equal(found, one);
    });

    test("drop with a detector removes the attribute that holds a finding", async () => {
      assert.equal(
        await attributeAfter([{ name: "r", detect: ["email"], action: "drop" }], `a ${MAIL}`, format),
        undefined,
      );
    });

    test("a rule of a project applies to it, and to a request that may be its", () => {
      const body = encodeBody([buildSpan(1, 0, undefined, { attributes: { given: MAIL } })], format);
      const named = encodeBody(
        [buildSpan(1, 0, undefined, { attributes: { given: MAIL, p: "secret-project" } })],
        format,
      );
      const redactor = buildRedactor([{ name: "r", detect: ["email"], projects: ["secret-project"] }]);
      assert.notEqual(run(redactor, { body, format, project: "secret-project" }), body);
      assert.equal(run(redactor, { body, format, project: "open" }), body);
      assert.equal(run(redactor, { body, format }), body);
      assert.notEqual(run(redactor, { body: named, format }), named);
    });
  });

describe("redaction", () => {
  test("removes an unknown protobuf field that could hold a finding", () => {
    const span = buildSpan(1, 0);
    const unknown = Buffer.concat([protobufRequest([span]), field(99, `mail ${MAIL}`)]);
    assert.deepEqual(run(buildRedactor(DETECT_ALL), { body: unknown }), protobufRequest([span]));
  });

  test("refuses a body that it cannot read", () => {
    const body = protobufRequest([buildSpan(1, 0, undefined, { attributes: { given: MAIL } })]);
    assert.throws(() => run(buildRedactor(DETECT_ALL), { body: body.subarray(0, -3) }), /cut off/);
    assert.throws(
      () => run(buildRedactor(DETECT_ALL), { body: Buffer.from(`{"a":"${MAIL}"`), format: "json" }),
      /malformed/,
    );
  });

  const PATTERNS: readonly (readonly [pattern: string, text: string])[] = [
    ["EMP-[0-9]{4}", "EMP-1234"],
    ["[0-9]{3}-[0-9]{2}-[0-9]{4}", "123-45-6789"],
    ["(?i)secret[ ]+word", "SeCrEt  word"],
    ["(?is)abc.def", "ABC\nDEF"],
    ["[^a-z]+canary", "9canary"],
    ["a|b", "b"],
    ["(?:foo|bar)-token", "bar-token"],
    [String.raw`key\b=\S+`, "key=a/b"],
    [String.raw`path/to`, "path/to"],
    [String.raw`say "\w+"`, 'say "hi"'],
    ["ünï", "ünï"],
    ["x{2,}y?z+", "xxxzz"],
    [String.raw`\x41B`, "AB"],
    ["[]x]y", "]y"],
    ["[-a]b", "-b"],
    ["x*abc", "abc"],
  ];
  for (const [pattern, text] of PATTERNS)
    for (const format of FORMATS)
      test(`the pattern ${pattern} is found in ${format}, as plain text and in JSON`, async () => {
        const rules = [{ name: "r", match: pattern }];
        assert.equal(await attributeAfter(rules, `zz${text}`, format), "zz[r]");
        const escaped = JSON.stringify({ k: text }).replaceAll("/", String.raw`\/`);
        assert.equal(await attributeAfter(rules, escaped, format), '{"k":"[r]"}');
      });

  test("a hostile text costs linear time in every detector and pattern", () => {
    const redactor = buildRedactor([...DETECT_ALL, { name: "p", match: "(a+)+$b" }]);
    for (const text of ["eyJ", "@", "4111 ", "a", "://x:", "-----BEGIN PRIVATE KEY-----", String.raw`\u0040`]) {
      const body = protobufRequest([
        buildSpan(1, 0, undefined, { attributes: { given: text.repeat(100_000 / text.length) } }),
      ]);
      run(redactor, { body });
    }
  });
});

describe("redaction of a large request of protobuf", () => {
  const SPANS = 200;
  const redactor = buildRedactor([{ name: "mail", detect: ["email"] }]);

  function turns(texts: (index: number) => string): number {
    const spans = Array.from({ length: SPANS }, (_, index) =>
      buildSpan(1, index, undefined, { attributes: { a: texts(index), b: "x".repeat(4096) } }),
    );
    const body = encodeBody(spans, "protobuf");
    return Array.from(redactor.redact({ format: "protobuf", signal: "traces", project: "", tenantId: "", body }))
      .length;
  }

  test("yields to other requests", () => {
    const count = turns(() => `${MAIL} ${"y".repeat(4096)}`);
    assert.ok(count >= 4 && count <= SPANS, `${count} turns`);
  });
});

test("a byte order mark in front of the JSON hides nothing from the rules", () => {
  const body = Buffer.from(`\ufeff${jsonRequest([buildSpan(1, 0, undefined, { attributes: { to: MAIL } })])}`);
  const redacted = run(buildRedactor(DETECT_ALL), { body, format: "json" }).toString();
  assert.ok(redacted.startsWith("{") && redacted.includes("[mail]") && !redacted.includes(MAIL));
});
