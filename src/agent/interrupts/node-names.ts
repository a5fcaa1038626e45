import { ApiError } from "../../base/api-error.ts";
import type { Json } from "../../base/json/json.ts";
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
  const detail = `${field} names ${unknown.map((name) => `"${name}"`).join(", ")}, which is not a node of ${graphId}.`;
  throw new ApiError("node_unknown", detail, { known: nodeNames });
}
