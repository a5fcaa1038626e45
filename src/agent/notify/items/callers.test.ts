// Tests of callers outside the console: notify-callers.1 (the rules of the sign-in decide, up to a reviewer),
// notify-callers.2.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createRoleAccess } from "../../auth/role-access.ts";
import { parseRoleRules } from "../../auth/role-rules.ts";
import type { Access, Tx } from "../../ports/ports.ts";
import { callerOf } from "./callers.ts";

const ORIGIN = { address: "10.0.0.1", userAgent: null, via: "slack" } as const;
const RULES = `[
  {"group": "platform", "role": "admin"}, {"group": "all", "role": "viewer"},
  {"group": "emea", "role": "reviewer", "metadata": {"region": "emea"}}
]`;
const withSignIn = createRoleAccess([], { path: "/auth/sign-in", rules: parseRoleRules(RULES) });

/** @param known groups of `ann@x` at the last sign-in */
function portsOf(access: Access, known: readonly string[] | null) {
  const person = (name: string) => (known !== null && name === "ann@x" ? { name, email: name, groups: known } : null);
  return { access, storage: { read: async (work: (tx: Tx) => unknown) => work({ person } as unknown as Tx) } as never };
}

const CASES: readonly (readonly [groups: readonly string[], role: string, limits: object | undefined])[] = [
  [["platform"], "reviewer", undefined],
  [["emea"], "reviewer", { assistants: null, metadata: { region: "emea" } }],
  [["all"], "viewer", undefined],
  [[], "viewer", undefined],
];
for (const [groups, role, limits] of CASES) {
  const who = groups.join(" ") || "no group";
  test(`with sign-in, somebody of ${who} in the file decides as a ${role} (notify-callers.1)`, async () => {
    const contact = { name: "ann", email: "ann@x", slack: null, groups, listed: true };
    const caller = await callerOf(portsOf(withSignIn, null), contact, ORIGIN);
    assert.deepEqual([caller.role, caller.limits], [role, limits]);
    assert.deepEqual([caller.origin, caller.groups], [ORIGIN, groups]);
  });
  test(`with sign-in, somebody of ${who} at the last sign-in decides as a ${role} (notify-callers.1)`, async () => {
    const contact = { name: "Ann@X", email: "Ann@X", slack: null, groups: [], listed: false };
    const caller = await callerOf(portsOf(withSignIn, groups), contact, ORIGIN);
    assert.deepEqual([caller.name, caller.role, caller.limits], ["ann@x", role, limits]);
  });
}

test("without sign-in, people of the notification file decide as reviewers (notify-callers.2)", async () => {
  const contact = { name: "ann", email: null, slack: "U1", groups: [], listed: true };
  assert.equal((await callerOf(portsOf(createRoleAccess([]), null), contact, ORIGIN)).role, "reviewer");
});
