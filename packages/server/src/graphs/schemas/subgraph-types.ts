// Subgraph types: the graphs that a file adds as nodes, by node name. The type of a graph does not contain the types of
// its subgraphs, so the calls of addNode in the source name them, as in the reference.
// Rules:
//   subgraph-types.1. Only names of the file's top level count: `addNode("child", child)`, also with `.compile()`.
//   subgraph-types.2. A node name that stands for two different graphs has no types.
import { graphTypeSchemas, type TypeSchemas } from "./type-schemas.ts";
import type { TypeProgram } from "./type-checker.ts";

const ADD_NODE = /\.addNode\(\s*(["'`])([^"'`\n]{1,200})\1\s*,\s*([A-Za-z_$][\w$]*)\s*(?:\.compile\([^()]*\)\s*)?[,)]/g;

export function subgraphTypeSchemas(program: TypeProgram, source: string): Readonly<Record<string, TypeSchemas>> {
  const added = new Map<string, Set<string>>();
  for (const [, , node = "", local = ""] of source.matchAll(ADD_NODE)) {
    const locals = added.get(node) ?? new Set<string>();
    added.set(node, locals.add(local));
  }
  const found: Record<string, TypeSchemas> = {};
  for (const [node, locals] of added) {
    const [local = ""] = locals;
    const type = locals.size === 1 ? program.findLocal(local) : undefined; // subgraph-types.2
    const schemas = type === undefined ? null : graphTypeSchemas(program, type);
    if (schemas !== null) found[node] = schemas;
  }
  return found;
}
