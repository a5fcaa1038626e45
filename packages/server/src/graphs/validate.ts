// Validate: loads everything a langgraph.json names, as a start would, and reports all problems at once.
import { describeError } from "@holdpoint/base/api-error.ts";
import { loadAuth } from "./extensions/auth-handlers.ts";
import { readGraphsConfig, type GraphsConfig, type GraphSource } from "./config/langgraph-json.ts";
import { loadCustomApp } from "./extensions/custom-app.ts";
import { loadEmbedder } from "./extensions/embedder.ts";
import { loadLibrary } from "./langgraph/library.ts";
import { loadGraph } from "./loading/load-graph.ts";
import { missingExports } from "./loading/missing-exports.ts";

export interface Validation {
  readonly file: string;
  readonly graphs: readonly {
    readonly graph_id: string;
    readonly source: string;
    readonly nodes: readonly string[];
    /** Null if it loads. */
    readonly problem: string | null;
  }[];
  /** Further errors, each with its position. */
  readonly problems: readonly string[];
  /** Entries without effect. */
  readonly remarks: readonly string[];
}

type Log = Parameters<typeof loadAuth>[2];

/** @param setEnv gives the modules the variables of a start */
export async function validateFile(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
  setEnv: (config: GraphsConfig) => void,
  log: Log,
): Promise<Validation> {
  let config: GraphsConfig;
  try {
    config = readGraphsConfig(file, env);
  } catch (error) {
    return { file, graphs: [], problems: [describeError(error).message], remarks: [] };
  }
  setEnv(config);
  const { folder, auth, http, store, remarks } = config;
  const graphs: Validation["graphs"][number][] = [];
  for (const source of config.graphs) graphs.push(await tryGraph(source, folder));
  const problems = await listProblems([
    ["@langchain/langgraph", () => loadLibrary(folder)],
    ["auth.path", async () => auth !== null && loadAuth(auth, folder, log)],
    ["http.app", async () => http.app !== null && loadCustomApp(http.app, folder)],
    ["store.index", async () => store.index !== null && loadEmbedder(store.index, folder)],
  ]);
  return { file, graphs, problems, remarks };
}

async function tryGraph(source: GraphSource, folder: string): Promise<Validation["graphs"][number]> {
  const about = { graph_id: source.graphId, source: `${source.file}:${source.exportName}` };
  try {
    const { graph } = await loadGraph(source, folder);
    const nodes = Object.keys(graph.nodes).filter((name) => name !== "__start__");
    return { ...about, nodes, problem: await importProblem(source, folder) };
  } catch (error) {
    return { ...about, nodes: [], problem: describeError(error).message };
  }
}

/** An import that loads, and gives undefined. */
async function importProblem({ graphId, file }: GraphSource, folder: string): Promise<string | null> {
  const faults = await missingExports(file, folder);
  if (faults.length === 0) return null;
  const places = faults.slice(0, FAULTS_NAMED_MAX).map((one) => `${one.file}:${one.line}: ${one.reason}`);
  return `graph "${graphId}" (${file}) has wrong imports: ${places.join("; ")}. Correct the name, or export it`;
}

const FAULTS_NAMED_MAX = 5;

async function listProblems(tries: readonly (readonly [string, () => Promise<unknown>])[]): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const [name, load] of tries) {
    try {
      await load();
    } catch (error) {
      problems.push(`${name}: ${describeError(error).message}`);
    }
  }
  return problems;
}
