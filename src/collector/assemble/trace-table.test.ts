import assert from "node:assert/strict";
import test from "node:test";
import { PLAIN_CONTENT, type UnplacedRun } from "../shared/trace-run.ts";
import { isPacked } from "./packed-tree.ts";
import { ASSEMBLE_LIMITS, createTraceTable, treeOf, within, type TraceTable } from "./trace-table.ts";
import { arrive } from "./trace-tree.ts";

const QUIET_MS = ASSEMBLE_LIMITS.packAfterMs;

function addTrace(table: TraceTable, number: number, now: number): void {
  const traceId = number.toString(16).padStart(32, "a");
  const span = { traceId, spanId: number.toString(16).padStart(16, "b"), parentSpanId: "", isRoot: true };
  const start = { sec: 1_763_715_600, nano: number };
  const tenant = { id: "tenant", apiKey: "key", tenantId: "" };
  const run = { ...span, start, tenant, declared: null, content: PLAIN_CONTENT, isDropped: false, origins: [] };
  const tree = treeOf(table, tenant.id, traceId, now);
  within(table, tree, () => arrive(tree, run satisfies UnplacedRun, now, () => undefined));
}

function packed(table: TraceTable): number {
  return [...table.trees.values()].filter((tree) => isPacked(tree)).length;
}

test("after a burst, each new trace packs at most eight quiet ones, until none is left", () => {
  const table = createTraceTable(ASSEMBLE_LIMITS, () => undefined);
  for (let number = 0; number < 100; number++) addTrace(table, number, 0);
  addTrace(table, 100, QUIET_MS - 1);
  assert.equal(packed(table), 0, "none is quiet");
  const counts = Array.from({ length: 15 }, (_, index) => {
    addTrace(table, 101 + index, QUIET_MS);
    return packed(table);
  });
  assert.deepEqual(counts, [8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 100, 100, 100]);
  assert.equal(table.counts.nodes, 116);
});

test("a further span of a trace in memory packs none", () => {
  const table = createTraceTable(ASSEMBLE_LIMITS, () => undefined);
  for (let number = 0; number < 10; number++) addTrace(table, number, 0);
  addTrace(table, 10, QUIET_MS - 1);
  treeOf(table, "tenant", "a".padStart(32, "a"), QUIET_MS);
  assert.equal(packed(table), 0);
});
