// Names of nodes in a request, checked against the graph.
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { Json } from "@holdpoint/base/json/json.ts";
import type { GraphDescription } from "../ports/ports.ts";
import { gotoTargets } from "./run-intent.ts";

/** @throws {ApiError} `node_unknown`, `invalid_request` */
export function checkGoto(graph: GraphDescription, goto: Json | undefined): void {
  const names = gotoTargets(goto).filter((name) => name !== "__end__");
  requireNodes(graph, "command.goto", names);
}

export function requireNodes({ graphId, nodeNames }: GraphDescription, field: string, names: readonly string[]): void {
  if (nodeNames === null) return; // run() rejects nodes missing from the graph of the run
  const unknown = names.filter((name) => !nodeNames.includes(name));
  if (unknown.length === 0) return;
  const list = unknown.map((name) => `"${name}"`).join(", ");
  const isBelow = field.startsWith("interrupt_") && unknown.some((name) => name.includes("."));
  const cure = isBelow ? " A subgraph has its breakpoints in its own compile()." : "";
  const detail = `${field} names ${list}, which is not a node of ${graphId}.${cure}`;
  throw new ApiError("node_unknown", detail, { known: nodeNames });
}
