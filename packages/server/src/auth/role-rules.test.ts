// Tests of role rules and of the claims of people. Checked: role-rules.1, which rule decides; role-rules.2 and
// person-claims.1, unverified addresses; person-claims.2, bounds.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { readPerson } from "./person-claims.ts";
import { claimsNamedBy, findGrant, parseRoleRules } from "./role-rules.ts";

const GRANTS: readonly (readonly [
  rules: string,
  groups: readonly string[],
  claims: JsonObject,
  role: string | null,
])[] = [
  ["a=viewer, b=admin", ["a", "b"], {}, "admin"],
  ["a=viewer\nb=admin", ["b"], {}, "admin"],
  ["a=viewer", ["A", "aa"], {}, null],
  ["*=viewer, a=operator", [], {}, "viewer"],
  ["*=viewer, a=operator", ["a"], {}, "operator"],
  ["/team/a=b=reviewer", ["/team/a=b"], {}, "reviewer"],
  ['[{"claim": "dep", "value": "x", "role": "reviewer"}]', [], { dep: "x" }, "reviewer"],
  ['[{"claim": "dep", "value": "x", "role": "reviewer"}]', [], { dep: ["y", "x"] }, "reviewer"],
  ['[{"claim": "dep", "value": "x", "role": "reviewer"}]', ["x"], { dep: "y" }, null],
  ['[{"claim": "constructor", "value": "x", "role": "admin"}]', [], {}, null],
  ['[{"role": "viewer"}]', [], {}, "viewer"],
];
for (const [rules, groups, claims, role] of GRANTS) {
  test(`${rules} gives ${groups.join(" ")} ${JSON.stringify(claims)} the role ${role ?? "none"} (role-rules.1)`, () => {
    assert.equal(findGrant(parseRoleRules(rules), groups, claims)?.role ?? null, role);
  });
}

test("of rules with the same role, the first decides about the limits (role-rules.1)", () => {
  const rules = parseRoleRules(
    '[{"group": "a", "role": "reviewer", "metadata": {"region": "eu"}}, {"group": "b", "role": "reviewer"}]',
  );
  assert.deepEqual(findGrant(rules, ["b", "a"], {})?.limits.metadata, { region: "eu" });
  assert.deepEqual(findGrant(rules, ["b"], {})?.limits.metadata, {});
});

for (const [text, says] of [
  ["", /has no rule/],
  ["a", /not of the form/],
  ["=admin", /not of the form/],
  ["a=root", /not of the form/],
  ["[{]", /is not JSON/],
  ['["a"]', /rule 1 is not an object/],
  ['[{"role": "viewer", "grup": "a"}]', /unknown member "grup"/],
  ['[{"role": "viewer", "claim": "a"}]', /both "claim" and "value"/],
  ['[{"role": "viewer", "group": 1}]', /"group" that is no text/],
  ['[{"role": "viewer", "group": "a", "claim": "b", "value": 1}]', /write two rules/],
  ['[{"role": "viewer", "assistants": []}]', /wrong limits/],
] as const) {
  test(`${JSON.stringify(text)} is no list of rules: ${says.source}`, () => {
    assert.throws(() => parseRoleRules(text), says);
  });
}

test("a session keeps only the claims that rules name, and no unverified address (role-rules.2)", () => {
  const rules = parseRoleRules(
    '[{"claim": "email", "value": "a@b", "role": "admin"}, {"claim": "dep", "value": 1, "role": "viewer"}]',
  );
  assert.deepEqual(claimsNamedBy(rules, { email: "a@b", dep: 1, other: 2 }), { email: "a@b", dep: 1 });
  for (const unverified of [false, "false", "no", null])
    assert.deepEqual(claimsNamedBy(rules, { email: "a@b", email_verified: unverified }), {});
});

const NAMES: readonly (readonly [claims: JsonObject, claim: string | null, name: string, email: string | null])[] = [
  [{ email: "Ann@Example.com" }, null, "ann@example.com", "Ann@Example.com"],
  [{ email: "ann@x", email_verified: false, preferred_username: "ann" }, null, "ann", null],
  [{ preferred_username: "ann" }, null, "ann", null],
  [{ email: "a\u202eb@x" }, null, "subject", null],
  [{ email: `${"a".repeat(130)}@x` }, null, "subject", null],
  [{ email: "ann@x", upn: "A1" }, "upn", "A1", "ann@x"],
  [{ email: "ann@x", email_verified: false }, "email", "subject", null],
  [{ email: "ann@x" }, "upn", "subject", "ann@x"],
  [{ email: "ann@x", email_verified: "false", preferred_username: "ann" }, null, "ann", null],
  [{ email: "ann@x", email_verified: "true" }, null, "ann@x", "ann@x"],
  [{ email: "ann@x", email_verified: 0 }, null, "subject", null],
  [{ preferred_username: "boss@x" }, null, "subject", null],
  [{ email: "ann@x", upn: "Boss@X" }, "upn", "subject", "ann@x"],
  [{ email: "ann@x", upn: "Ann@X" }, "upn", "ann@x", "ann@x"],
];
for (const [claims, claim, name, email] of NAMES) {
  test(`${JSON.stringify(claims).slice(0, 60)} by ${claim ?? "default"} is ${name} (person-claims.1, person-claims.2)`, () => {
    const person = readPerson(
      { issuer: "i", subject: "subject", claims, idToken: "", userInfoFault: null },
      { name: claim, groups: "groups" },
      1,
    );
    assert.deepEqual([person.name, person.email], [name, email]);
  });
}

for (const [claims, path, groups] of [
  [{ groups: ["a", "a", 1, "", "b"] }, "groups", ["a", "b"]],
  [{ groups: "a" }, "groups", ["a"]],
  [{ realm_access: { roles: ["x"] } }, "realm_access.roles", ["x"]],
  [{ "https://x.example/groups": ["x"] }, "https://x.example/groups", ["x"]],
  [{}, "groups.constructor", []],
] as const) {
  test(`groups of ${JSON.stringify(claims)} at ${path}: ${groups.join(" ") || "none"} (person-claims.2)`, () => {
    const identity = {
      issuer: "i",
      subject: "s",
      claims: claims as unknown as JsonObject,
      idToken: "",
      userInfoFault: null,
    };
    assert.deepEqual(readPerson(identity, { name: null, groups: path }, 1).groups, groups);
  });
}
