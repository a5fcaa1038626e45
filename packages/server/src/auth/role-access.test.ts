// Tests of votes that still count: a name may answer by a key of the settings, by a stored key, or as a person.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Person, Role, StoredKey } from "../model/model.ts";
import { createRoleAccess } from "./role-access.ts";
import { NO_LIMITS } from "./role-limits.ts";
import { parseRoleRules } from "./role-rules.ts";

const NOW = 1_000_000;
const clock = { now: () => NOW };
const PEOPLE = { path: "/auth/sign-in", rules: parseRoleRules('[{ "group": "finance", "role": "reviewer" }]') };

const buildStoredKey = (role: Role, expiresAt: number | null = null): StoredKey => ({
  keyId: "k",
  name: "ann",
  hash: "h",
  role,
  limits: NO_LIMITS,
  createdBy: "root",
  createdAt: 1,
  expiresAt,
  usedAt: null,
});
const personIn = (...groups: readonly string[]): Person => ({
  name: "ann",
  issuer: "i",
  subject: "s",
  displayName: "Ann",
  email: null,
  groups,
  createdAt: 1,
  seenAt: 1,
});

interface Row {
  readonly name: string;
  readonly setting?: Role;
  readonly stored?: readonly StoredKey[];
  readonly person?: Person;
  readonly via?: "slack";
  readonly counts: { readonly withSignIn: boolean; readonly withKeys: boolean };
}

const YES = { withSignIn: true, withKeys: true };
const NO = { withSignIn: false, withKeys: false };
const ROWS: readonly Row[] = [
  { name: "nobody", counts: NO },
  { name: "a reviewer's key of the settings", setting: "reviewer", counts: YES },
  { name: "a viewer's key of the settings", setting: "viewer", counts: NO },
  { name: "a reviewer's stored key", stored: [buildStoredKey("reviewer", NOW + 1)], counts: YES },
  { name: "an expired key", stored: [buildStoredKey("reviewer", NOW)], counts: NO },
  {
    name: "an expired key beside a viewer's",
    stored: [buildStoredKey("reviewer", NOW), buildStoredKey("viewer")],
    counts: NO,
  },
  {
    name: "an expired key beside a new one",
    stored: [buildStoredKey("reviewer", NOW), buildStoredKey("operator")],
    counts: YES,
  },
  { name: "a person with the role", person: personIn("finance"), counts: { withSignIn: true, withKeys: false } },
  { name: "a person without the role", person: personIn("guests"), counts: NO },
  { name: "a contact of the notification file", via: "slack", counts: { withSignIn: false, withKeys: true } },
];

for (const { name, setting, stored = [], person = null, via, counts } of ROWS) {
  for (const [where, people, expected] of [
    ["with sign-in", PEOPLE, counts.withSignIn],
    ["with keys alone", null, counts.withKeys],
  ] as const) {
    test(`${where}, the vote of ${name} ${expected ? "counts" : "does not count"}`, async () => {
      const keys = setting === undefined ? [] : [{ name: "ann", role: setting }];
      const access = createRoleAccess([], people, { keys, clock });
      const tx = { person: async () => person, keysNamed: async () => stored };
      const vote = { by: "ann", ...(via === undefined ? {} : { via }) };
      assert.equal(await access.isCurrent?.(tx, vote), expected);
    });
  }
}

const EMEA = { assistants: null, metadata: { region: "emea" } };
const REVIEWS = [{ group: "finance", role: "reviewer", metadata: EMEA.metadata }];
const BY_CLAIM = [{ claim: "team", value: "x", role: "reviewer", metadata: EMEA.metadata }];
const REACHES: readonly (readonly [now: string, found: Pick<Row, "setting" | "stored" | "person">, all: boolean])[] = [
  ["a key without limits", { stored: [buildStoredKey("reviewer")] }, true],
  ["a key with limits", { stored: [{ ...buildStoredKey("reviewer"), limits: EMEA }] }, false],
  ["a key of the settings beside it", { setting: "reviewer", stored: [{ ...buildStoredKey("viewer") }] }, true],
  ["a person with limits", { person: personIn("finance") }, false],
];

for (const [now, { setting, stored = [], person = null }, all] of REACHES)
  for (const rules of person === null ? [REVIEWS] : [REVIEWS, BY_CLAIM])
    for (const [before, limits, expected] of [
      ["no limits", NO_LIMITS, all],
      ["the same limits", EMEA, true],
      ["other limits", { assistants: null, metadata: { region: "us" } }, all],
    ] as const)
      test(`of ${before} before, ${now} ${expected ? "reaches as far" : "does not reach as far"}, by ${JSON.stringify(rules)}`, async () => {
        const keys = setting === undefined ? [] : [{ name: "ann", role: setting }];
        const people = { path: "/auth/sign-in", rules: parseRoleRules(JSON.stringify(rules)) };
        const access = createRoleAccess([], people, { keys, clock });
        const tx = { person: async () => person, keysNamed: async () => stored };
        assert.equal(await access.isCurrent?.(tx, { by: "ann", limits }), expected);
      });

const ON_EMEA: readonly (readonly [who: string, found: Pick<Row, "stored" | "person">, rules: readonly object[]])[] = [
  ["a key with limits", { stored: [{ ...buildStoredKey("reviewer"), limits: EMEA }] }, REVIEWS],
  ["a person with limits", { person: personIn("finance") }, REVIEWS],
  ["a person whose claims give a role with limits", { person: personIn("finance") }, BY_CLAIM],
];

for (const [who, { stored = [], person = null }, rules] of ON_EMEA)
  test(`an earlier act of ${who} counts on the threads of the limits`, async () => {
    const people = { path: "/auth/sign-in", rules: parseRoleRules(JSON.stringify(rules)) };
    const access = createRoleAccess([], people, { keys: [], clock });
    const tx = { person: async () => person, keysNamed: async () => stored };
    const counts = (metadata: object) => access.isCurrent?.(tx, { by: "ann", metadata: { ...metadata } });
    assert.deepEqual([await counts(EMEA.metadata), await counts({})], [true, false]);
  });
