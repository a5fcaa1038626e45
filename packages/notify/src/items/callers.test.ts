// Tests of callers outside the console: notify-callers.1 (one person or nobody), notify-callers.2 (the roles decide, up to
// a reviewer), notify-callers.3.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createRoleAccess } from "@holdpoint/server/auth/role-access.ts";
import { parseRoleRules } from "@holdpoint/server/auth/role-rules.ts";
import type { Access, Tx } from "@holdpoint/server/ports/ports.ts";
import { resolveCaller } from "./callers.ts";

const ORIGIN = { address: "10.0.0.1", userAgent: null, via: "slack" } as const;
const RULES = `[
  {"group": "platform", "role": "admin"}, {"group": "all", "role": "viewer"},
  {"group": "emea", "role": "reviewer", "metadata": {"region": "emea"}}
]`;
const people = { path: "/auth/sign-in", rules: parseRoleRules(RULES) };
const withSignIn = createRoleAccess([], people);

interface Known {
  readonly name: string;
  readonly email: string | null;
  readonly groups?: readonly string[];
}

/** @param known people of the directory */
function createTestPorts(access: Access, known: readonly Known[]) {
  const all = known.map((one) => ({ groups: [], ...one }));
  const tx = {
    person: (name: string) => all.find((one) => one.name === name) ?? null,
    peopleByEmail: (address: string) => all.filter(({ email }) => email?.toLowerCase() === address.toLowerCase()),
  };
  return { access, storage: { read: async (work: (tx: Tx) => unknown) => work(tx as unknown as Tx) } as never };
}

const ann = { name: "ann", email: "Ann@X", slack: null, groups: [], listed: true } as const;

const CASES: readonly (readonly [groups: readonly string[], role: string, limits: object | undefined])[] = [
  [["platform"], "reviewer", undefined],
  [["emea"], "reviewer", { assistants: null, metadata: { region: "emea" } }],
  [["all"], "viewer", undefined],
];
for (const [groups, role, limits] of CASES) {
  const who = groups.join(" ");
  test(`somebody of ${who} in the file decides as a ${role}, under the name of the sign-in (notify-callers.2)`, async () => {
    const ports = createTestPorts(withSignIn, [{ name: "ann@x", email: "ann@x" }]);
    const caller = await resolveCaller(ports, { ...ann, groups }, ORIGIN);
    assert.deepEqual([caller.name, caller.role, caller.limits], ["ann@x", role, limits]);
    assert.deepEqual([caller.origin, caller.groups], [ORIGIN, groups]);
  });
  test(`somebody of ${who} at the last sign-in decides as a ${role} (notify-callers.2)`, async () => {
    const ports = createTestPorts(withSignIn, [{ name: "ann@x", email: "ann@x", groups }]);
    const caller = await resolveCaller(ports, { ...ann, name: "Ann@X", listed: false }, ORIGIN);
    assert.deepEqual([caller.name, caller.role, caller.limits], ["ann@x", role, limits]);
  });
}

const all = ["all"];
const NOBODY: readonly (readonly [why: string, contact: Partial<typeof ann> | object, known: readonly Known[]])[] = [
  ["nobody has signed in", { groups: all }, []],
  ["the person has no role any more", {}, [{ name: "ann@x", email: "ann@x" }]],
  [
    "name and address are of two people",
    { groups: all },
    [
      { name: "ann", email: null },
      { name: "a2", email: "ann@x" },
    ],
  ],
  ["the name is of a person with another address", { groups: all }, [{ name: "ann", email: "mallory@x" }]],
  [
    "two people have the address",
    { groups: all },
    [
      { name: "a1", email: "ann@x" },
      { name: "a2", email: "ann@x" },
    ],
  ],
];
for (const [why, contact, known] of NOBODY) {
  test(`a contact is nobody: ${why} (notify-callers.1)`, async () => {
    await assert.rejects(resolveCaller(createTestPorts(withSignIn, known), { ...ann, ...contact }, ORIGIN), {
      code: "forbidden",
    });
  });
}

test("without sign-in, people of the notification file decide as reviewers (notify-callers.3)", async () => {
  const contact = { name: "ann", email: null, slack: "U1", groups: [], listed: true };
  assert.equal((await resolveCaller(createTestPorts(createRoleAccess([]), []), contact, ORIGIN)).role, "reviewer");
});
