// Tests of waits: medians, quantiles, approval rates, CSV.
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatCsv, groupWaits } from "./waits.ts";

const at = (seconds: number): string => new Date(Date.UTC(2026, 10, 1) + seconds * 1000).toISOString();
const entry = (graph: string, waited: number, decision: string, tool: string | null = "refund") => ({
  action: "answered",
  by: graph === "bank" ? "bob" : "ann",
  at: at(waited),
  asked_at: at(0),
  graph_id: graph,
  decision,
  tool,
});

test("waits are grouped by graph and action, most first, with the share of approvals", () => {
  const entries = [
    ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 100].map((waited) => entry("shop", waited, waited > 8 ? "reject" : "approve")),
    entry("bank", 60, "answer", null),
    { ...entry("shop", 5, "approve"), action: "claimed" },
    { ...entry("shop", 5, "approve"), asked_at: null },
  ];
  assert.deepEqual(
    groupWaits(entries, ({ graph_id: graph }) => [graph]),
    [
      { name: "shop", count: 10, median: 6000, p90: 100_000, approved: 0.8 },
      { name: "bank", count: 1, median: 60_000, p90: 60_000, approved: null },
    ],
  );
  const groups: Readonly<Record<string, readonly string[]>> = { ann: ["finance", "all"], bob: ["all"] };
  assert.deepEqual(
    groupWaits(entries, ({ by }) => groups[by] ?? []).map(({ name, count }) => [name, count]),
    [
      ["all", 11],
      ["finance", 10],
    ],
  );
  const tools = groupWaits(entries, ({ tool }) => [tool]);
  assert.deepEqual(
    tools.map(({ name, count }) => [name, count]),
    [["refund", 10]],
  );
  assert.equal(
    formatCsv([
      ["tool", tools],
      ["graph", groupWaits([entry('\t=a"b', 1, "edit")], ({ graph_id: graph }) => [graph])],
    ]),
    'by,name,answers,median_seconds,p90_seconds,approved\r\ntool,"refund",10,6,100,0.8\r\ngraph,"\'\t=a""b",1,1,1,1\r\n',
  );
});
