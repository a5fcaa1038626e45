// Tests of the inbox's filters: what an address says, what the server is asked, what the browser leaves out.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ListedItem } from "../../../data/inbox/item.ts";
import { isWritable, matches, parseMetadata, buildQuery, readFilters, withPair } from "./filters.ts";

const ADA = { name: "ada", email: "ada@example.org", groups: ["ops", "eu"] };

test("tabs ask for the items of a person, of their groups, or of nobody", () => {
  assert.equal(buildQuery({ tab: "mine" }, ADA)["assigned_to"], "ada,ada@example.org");
  assert.equal(buildQuery({ tab: "groups" }, ADA)["assigned_to"], "group:ops,group:eu");
  assert.equal(buildQuery({ tab: "groups" }, { ...ADA, groups: [] })["assigned_to"], "group:");
  assert.equal(buildQuery({ tab: "unassigned" }, ADA)["unassigned"], true);
});

const ADDRESSES: readonly (readonly [search: Record<string, unknown>, filters: object])[] = [
  [{}, {}],
  [
    { graph: "refund", kind: "form", older: "2h", order: "newest" },
    { graph: "refund", kind: "form", older: "2h", order: "newest" },
  ],
  [{ text: 42, node: "" }, { text: "42" }],
  [{ kind: "dance", older: "soon", order: "up", other: 1, graph: { a: 1 } }, {}],
];

for (const [search, filters] of ADDRESSES) {
  test(`an address with ${JSON.stringify(search)} filters by ${JSON.stringify(filters)}`, () => {
    assert.deepEqual(readFilters(search), filters);
  });
}

test("the request contains the filters that the server supports", () => {
  const asked = buildQuery({ graph: "g", metadata: "tier=gold", claim: "me", order: "newest", text: "x" }, ADA);
  assert.equal(asked["graph_id"], "g");
  assert.equal(asked["metadata"], '{"tier":"gold"}');
  assert.equal(asked["claimed_by"], "ada");
  assert.equal(asked["unclaimed"], undefined);
  assert.deepEqual([asked["q"], asked["sort"], asked["values"], asked["snoozed"]], ["x", "newest", "false", false]);
  assert.deepEqual([buildQuery({}, ADA)["sort"], buildQuery({}, ADA)["values"]], ["oldest", "false"]);
  assert.equal(buildQuery({ snoozed: "only" }, ADA)["snoozed"], true);
  assert.equal(buildQuery({ snoozed: "all" }, ADA)["snoozed"], undefined);
  assert.equal(buildQuery({ due: "hour" }, ADA)["deadline"], "hour");
  assert.equal(buildQuery({ claim: "nobody" }, ADA)["unclaimed"], true);
  assert.equal(buildQuery({ claim: "bob" }, ADA)["claimed_by"], "bob");
});

test("metadata is written as people write it, and keeps the types that JSON has", () => {
  assert.deepEqual(parseMetadata('customer=7, tier=gold, vip=true, name="7", url=a=b, flag,'), {
    customer: 7,
    tier: "gold",
    vip: true,
    name: "7",
    url: "a=b",
    flag: true,
  });
});

test("a chosen pair joins the filter and replaces the one of its name; its value reads back as it was", () => {
  assert.equal(withPair("", "tier", "gold"), "tier=gold");
  assert.equal(withPair("tier=gold, vip=true", "tier", "tin"), "vip=true, tier=tin");
  for (const value of ["7", 7, true, null, "true", "gold", "a b", " x", "a=b", ""])
    assert.deepEqual(parseMetadata(withPair("", "key", value)), { key: value }, String(value));
  assert.deepEqual([isWritable("a", "b,c"), isWritable("a=b", 1), isWritable("a", 1)], [false, false, true]);
});

test("the browser compares the action's name, and leaves words to the server", () => {
  const item = { thread_id: "t", id: "i", title: "Refund", action: "refund" } as unknown as ListedItem;
  assert.ok(matches(item, { action: "refund", text: "silver" }));
  assert.ok(!matches(item, { action: "mail" }));
});
