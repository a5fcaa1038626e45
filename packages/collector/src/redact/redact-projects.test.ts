// Redaction of one project: a request that may be the project's, however it writes the name.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { jsonRequest, buildSpan } from "../../../../test/fakes/otlp.ts";
import { createRedactor, type Redactor } from "./redact.ts";
import { RedactSchema } from "./redact-schema.ts";

const MAIL = "alice.canary@example.com";

function redacted(rules: unknown, body: Buffer, project: string): Buffer {
  return applied(createRedactor(RedactSchema.parse(rules), { project: "", hashKey: null }), body, project);
}

function applied(redactor: Redactor, body: Buffer, project: string): Buffer {
  const steps = redactor.redact({ body, format: "json", signal: "traces", project, tenantId: "" });
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

describe("a rule of a project", () => {
  const PROJECTS: readonly (readonly [project: string, written: string])[] = [
    ["Prüfung", String.raw`Pr\u00fcfung`],
    ["team/a", String.raw`team\/a`],
    ["R&D", String.raw`R\u0026D`],
    ['a"b', String.raw`a\"b`],
    ["a\\b", String.raw`a\u005cb`],
    ["a\nb", String.raw`a\u000ab`],
    ["😀", String.raw`\ud83d\ude00`],
    ["Prüfung", String.raw`{\"session\":\"Pr\\u00fcfung\"}`],
  ];
  for (const [project, written] of PROJECTS)
    test(`applies to the project ${JSON.stringify(project)} where a request writes ${written}`, () => {
      const span = buildSpan(1, 0, undefined, { attributes: { given: MAIL, "langsmith.trace.session_name": "NAME" } });
      const body = Buffer.from(jsonRequest([span], "spec").replace("NAME", written));
      const rules = [{ name: "r", detect: ["email"], projects: [project] }];
      assert.ok(!redacted(rules, body, "").includes(MAIL));
      assert.ok(redacted(rules, body, "open").includes(MAIL));
    });

  test("applies to its project alone, whichever project came before", () => {
    const rules = [
      { name: "r", detect: ["email"], projects: ["one"] },
      { name: "s", detect: ["card"] },
    ];
    const redactor = createRedactor(RedactSchema.parse(rules), { project: "", hashKey: null });
    const body = Buffer.from(jsonRequest([buildSpan(1, 0, undefined, { attributes: { given: MAIL } })], "spec"));
    const kept = ["two", "one", "two", "one", "one", "two"].map((project) =>
      applied(redactor, body, project).includes(MAIL),
    );
    assert.deepEqual(kept, [true, false, true, false, false, true]);
  });
});
