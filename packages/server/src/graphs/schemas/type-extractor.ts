// Type extractor: a separate program, started by type-reader.ts, so that no type check blocks or ends the server.
// It reads an ExtractorRequest from its standard input, and prints `{graphId: TypeSchemas | null}`.
// Invariants:
//   - It ends by its deadline, even in an endless loop and without its parent.
//   type-extractor.2. A graph with unreadable types does not affect the others.
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { Worker } from "node:worker_threads";
import { openTypes } from "./type-checker.ts";
import { subgraphTypeSchemas } from "./subgraph-types.ts";
import { graphTypeSchemas, type TypeSchemas } from "./type-schemas.ts";

export interface TypedGraph {
  readonly graphId: string;
  readonly file: string;
  readonly exportName: string;
}

export interface ExtractorRequest {
  /** The project; its TypeScript resolves from here. */
  readonly folder: string;
  readonly graphs: readonly TypedGraph[];
  readonly deadlineMs: number;
}

const WATCHDOG = "setTimeout(() => process.kill(process.pid, 'SIGKILL'), require('node:worker_threads').workerData)";

const { folder, graphs, deadlineMs } = JSON.parse(await text(process.stdin)) as ExtractorRequest;
new Worker(WATCHDOG, { eval: true, workerData: deadlineMs }).unref();
const files = await openTypes(
  folder,
  graphs.map(({ file }) => file),
);
const found = Object.fromEntries(graphs.map((graph) => [graph.graphId, extractSchemas(graph)]));
files?.close();
process.stdout.write(JSON.stringify(found));

function extractSchemas({ file, exportName }: TypedGraph): TypeSchemas | null {
  try {
    const program = files?.buildProgram(file) ?? null;
    const type = program?.findExport(exportName);
    const schemas = program === null || type === undefined ? null : graphTypeSchemas(program, type);
    if (program === null || schemas === null) return schemas;
    const subgraphs = subgraphTypeSchemas(program, readFileSync(file, "utf8"));
    return Object.keys(subgraphs).length === 0 ? schemas : { ...schemas, subgraphs };
  } catch {
    return null; // type-extractor.2
  }
}
