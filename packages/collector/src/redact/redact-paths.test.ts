// Redaction by path: JSON that is not strict, and what paths reach.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { jsonRequest, protobufRequest, buildSpan, type TestSpan } from "../../../../test/fakes/otlp.ts";
import type { WireFormat } from "../otlp/status.ts";
import { createRedactor } from "./redact.ts";
import { RedactSchema } from "./redact-schema.ts";

const SECRET = "s3cr3tcanary";

function redacted(rules: unknown, span: Partial<TestSpan>, format: WireFormat): string {
  const redactor = createRedactor(RedactSchema.parse(rules), { project: "", hashKey: null });
  const spans = [buildSpan(1, 0, undefined, span)];
  const body = format === "json" ? Buffer.from(jsonRequest(spans, "spec")) : protobufRequest(spans);
  const steps = redactor.redact({ body, format, signal: "traces", project: "", tenantId: "" });
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value.toString();
  }
}

function nested(times: number): string {
  let text = JSON.stringify({ password: SECRET });
  for (let left = times; left > 0; left--) text = JSON.stringify({ a: text });
  return text;
}

const FORMS: Readonly<Record<string, string>> = {
  "JSON that was cut off": `{"user":"x","password":"${SECRET}","long":"abc`,
  "JSON that was cut off in the value": `{"user":"x","password":"${SECRET}`,
  "an escape in a key of it": String.raw`{"passw\u006frd":"${SECRET}","long":"abc`,
  "NaN of Python": `{"password":"${SECRET}","score":NaN}`,
  "an infinite number": `{"score":-Infinity,"password":"${SECRET}"}`,
  "a byte order mark": `\ufeff{"password":"${SECRET}"}`,
  "a space first": `\n\t {"password":"${SECRET}"}`,
  "a space beyond ASCII first": `\u00a0{"password":"${SECRET}"}`,
  "an undefined value": `{"password":"${SECRET}","a":undefined}`,
  "text of Python": `{'password': '${SECRET}', 'a': None}`,
  "lines of JSON": `{"a":1}\n{"password":"${SECRET}"}`,
  "an event of a stream": `data: {"password":"${SECRET}"}`,
  "text before JSON": `Result: {"password" : "${SECRET}"}`,
  "JSON in a text in JSON that was cut off": `{"a":${JSON.stringify(JSON.stringify({ password: SECRET }))},"b":"`,
  "JSON nested too deep as text": nested(9),
  "JSON nested too deep": "[".repeat(520) + JSON.stringify({ password: SECRET }) + "]".repeat(520),
};

for (const format of ["json", "protobuf"] as const)
  describe(`redaction by path in ${format}`, () => {
    for (const [what, text] of Object.entries(FORMS))
      for (const path of ["**/password", "given/**/pass*", "given/password"])
        test(`${path} reaches into ${what}`, () => {
          // This path is that of the member only where nothing contains it.
          if (path === "given/password" && /nested|in a text in/.test(what)) return;
          const after = redacted([{ name: "r", attributes: [path] }], { attributes: { given: text } }, format);
          assert.ok(!after.includes(SECRET), after);
          assert.ok(after.includes("[r]"), after);
        });

    test("a rule with a path and a pattern searches all of a text that is not strict JSON", () => {
      const rules = [{ name: "r", attributes: ["given/password"], match: "s3cr3t[a-z]+" }];
      const span = { attributes: { given: `{"password":"${SECRET}","long":"abc` } };
      assert.ok(!redacted(rules, span, format).includes(SECRET));
      const other = { attributes: { other: `{"password":"${SECRET}","long":"abc`, given: "password" } };
      assert.ok(redacted(rules, other, format).includes(SECRET));
    });

    test("elements of a list that was cut off go", () => {
      const rules = [{ name: "r", attributes: ["given/*"] }];
      assert.ok(!redacted(rules, { attributes: { given: `["${SECRET}","abc` } }, format).includes(SECRET));
    });

    for (const path of ["app.kubernetes.io/name", "app.kubernetes.io/*", "*/name", "app*", "app.kubernetes.io/name/a"])
      test(`${path} names an attribute with a slash in its key`, () => {
        const value = path.endsWith("/a") ? { a: SECRET } : SECRET;
        const span = { attributes: { "app.kubernetes.io/name": value } };
        assert.ok(!redacted([{ name: "r", attributes: [path] }], span, format).includes(SECRET));
        assert.ok(redacted([{ name: "r", attributes: ["app.kubernetes.io"] }], span, format).includes(SECRET));
      });

    test("the protocol's own names reach texts outside attributes", () => {
      const span = { name: `work ${SECRET}`, status: { code: 2, message: SECRET }, traceState: `a=${SECRET}` };
      for (const action of ["replace", "drop"]) {
        const attributes = ["status.message", "trace_state", "span.*"];
        const rules = [{ name: "r", attributes, action, in: ["status", "other", "names"] }];
        assert.ok(!redacted(rules, span, format).includes(SECRET));
      }
      assert.ok(
        !redacted([{ name: "r", attributes: ["status.message"] }], { status: span.status }, format).includes(SECRET),
      );
      const inside = { status: { code: 2, message: JSON.stringify({ pw: SECRET }) } };
      assert.ok(!redacted([{ name: "r", attributes: ["status.message/pw"] }], inside, format).includes(SECRET));
    });

    test("leaves other texts alone", () => {
      for (const text of ["the password: x", `{"user":"x","long":"abc`, "password", `{"password`]) {
        const after = redacted([{ name: "r", attributes: ["**/password"] }], { attributes: { given: text } }, format);
        assert.ok(!after.includes("[r]"), after);
      }
    });
  });
