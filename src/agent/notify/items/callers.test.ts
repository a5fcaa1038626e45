// Tests of callers outside the console: the rules of the sign-in decide about them, up to a reviewer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createRoleAccess } from "../../auth/role-access.ts";
import { parseRoleRules } from "../../auth/role-rules.ts";
import { callerOf } from "./callers.ts";

const ORIGIN = { address: "10.0.0.1", userAgent: null, via: "slack" } as const;
const RULES = `[
  {"group": "platform", "role": "admin"}, {"group": "all", "role": "viewer"},
  {"group": "emea", "role": "reviewer", "metadata": {"region": "emea"}}
]`;

const CASES: readonly (readonly [groups: readonly string[], role: string, limits: object | undefined])[] = [
  [["platform"], "reviewer", undefined],
  [["emea"], "reviewer", { assistants: null, metadata: { region: "emea" } }],
  [["all"], "viewer", undefined],
  [[], "viewer", undefined],
];
for (const [groups, role, limits] of CASES) {
  test(`with sign-in, somebody of ${groups.join(" ") || "no group"} decides as a ${role}`, () => {
    const access = createRoleAccess([], { path: "/auth/sign-in", rules: parseRoleRules(RULES) });
    const contact = { name: "ann", email: "ann@x", slack: null, groups, listed: false };
    const caller = callerOf(access, contact, ORIGIN);
    assert.deepEqual([caller.role, caller.limits], [role, limits]);
    assert.deepEqual([caller.origin, caller.groups], [ORIGIN, groups]);
  });
}

test("without sign-in, people of the notification file decide as reviewers", () => {
  const contact = { name: "ann", email: null, slack: "U1", groups: [], listed: true };
  assert.equal(callerOf(createRoleAccess([]), contact, ORIGIN).role, "reviewer");
});
