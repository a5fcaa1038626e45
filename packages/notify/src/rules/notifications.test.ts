// Tests of the notification file. Checked: notifications.1 (every problem, with its place), notifications.2 (unknown
// members); the published JSON Schema, and the sample of the guide.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as z from "zod";
import { notificationsSchema, parseNotifications } from "./notifications.ts";

const ALL = { slackToken: true, smtp: true };
const docs = (path: string): string => readFileSync(join(import.meta.dirname, "../../../../docs", path), "utf8");

function listProblems(file: unknown, has = ALL): readonly string[] {
  const parsed = parseNotifications(typeof file === "string" ? file : JSON.stringify(file), has);
  return "rules" in parsed ? [] : parsed.map(({ reason }) => reason);
}

const rule = { name: "a", slack: ["C0123456789"] };
const CASES: readonly (readonly [name: string, file: unknown, problem: RegExp])[] = [
  ["no JSON", "{", /not JSON/],
  ["no rules", {}, /^rules: /],
  ["an unknown member", { rules: [], rule: [] }, /rule/],
  ["a misspelled filter", { rules: [{ ...rule, graph: ["x"] }] }, /^rules\[0\]: .*graph/],
  ["a rule without recipients", { rules: [{ name: "a" }] }, /^rules\[0\]: needs slack, email or both/],
  ["two rules of one name", { rules: [rule, rule] }, /^rules\[1\]\.name: another rule/],
  ["a recipient that is none", { rules: [{ ...rule, slack: ["somebody"] }] }, /^rules\[0\]\.slack\[0\]: must be/],
  [
    "an unknown time zone",
    { rules: [{ ...rule, digest: { at: ["09:00"], time_zone: "Mars" } }] },
    /^rules\[0\]\.digest/,
  ],
  ["quiet hours without an end", { rules: [{ ...rule, quiet_hours: { from: "08:00", to: "08:00" } }] }, /must differ/],
  ["a sender with a second header", { email: { from: "a@b.c\r\nBcc: d@e.f" }, rules: [] }, /^email\.from/],
  [
    "a recipient with a line break",
    { rules: [{ name: "a", email: ["a@b.c\r\nBcc: d@e.f"] }] },
    /^rules\[0\]\.email\[0\]/,
  ],
];

for (const [name, file, problem] of CASES) {
  test(`${name} is a problem with its place (notifications.1, notifications.2)`, () => {
    const problems = listProblems(file);
    assert.ok(
      problems.some((one) => problem.test(one)),
      problems.join("\n"),
    );
  });
}

test("the sample of the guide is valid", () => {
  const sample = /```json\n([^`]*)```/.exec(docs("how-to/notify.md"))?.[1] ?? "";
  assert.deepEqual(listProblems(sample), []);
  assert.equal(listProblems(sample, { slackToken: false, smtp: false }).length, 4);
});

test("the published JSON Schema is that of the server", () => {
  const schema = z.toJSONSchema(notificationsSchema, { io: "input" });
  const text = docs("reference/notifications.schema.json");
  assert.deepEqual(
    JSON.parse(text),
    schema,
    `docs/reference/notifications.schema.json has to be:\n${JSON.stringify(schema)}`,
  );
});
