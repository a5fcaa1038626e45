// Test of what the list of threads asks the server.
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatLine, searchBody, type ThreadFilters } from "./query.ts";

const CASES: readonly { readonly name: string; readonly filters: ThreadFilters; readonly asks: object }[] = [
  { name: "nothing", filters: {}, asks: {} },
  { name: "a status", filters: { status: "interrupted" }, asks: { status: "interrupted" } },
  { name: "a status that is none", filters: { status: "sleepy" }, asks: {} },
  {
    name: "a graph and metadata",
    filters: { graph: "agent", metadata: "tenant=acme, tier=2" },
    asks: { metadata: { graph_id: "agent", tenant: "acme", tier: 2 } },
  },
  { name: "the beginning of an id", filters: { id: " 01a1fecb-8b82 " }, asks: { id_prefix: "01a1fecb-8b82" } },
];

for (const { name, filters, asks } of CASES) {
  test(`an address with ${name} becomes a search`, () => {
    const { limit, offset, sort_by: _sort, select: _select, extract: _extract, ...rest } = searchBody(filters, 50, 100);
    assert.deepEqual({ limit, offset }, { limit: 50, offset: 100 });
    assert.deepEqual(rest, asks);
  });
}

test("a message's content becomes one line", () => {
  assert.equal(formatLine(" two\n lines "), "two lines");
  assert.equal(formatLine([{ type: "text", text: "a" }, { type: "image" }, { type: "text", text: "b" }]), "a b");
  assert.equal(formatLine(null), "");
});
