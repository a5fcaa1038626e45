// Final output: the run whose output is the result of a trace, where the root itself has none. Pure.
// Invariants:
//   - An output of the root's own is the final one, unless the root ended at a pause: then the output of the last run
//     that continued it is.
//   - A root that failed or has not ended has no final output below it: a part is no result.
//   - Otherwise it is the output of the child that ended last, or the final one below that child. Calls of tools count
//     only where no other child has an output; lookups, vectors and prompts never do, nor failed runs.

/** A run as this rule sees it. */
export interface OutputRun {
  readonly id: string;
  readonly dottedOrder: string;
  readonly type: string;
  readonly status: string;
  /** Microseconds since 1970; null while it is running. */
  readonly end: number | null;
  readonly hasOutput: boolean;
  /** A run of the agent server, not a step of one. */
  readonly isAgentRun: boolean;
  /** It ended because it waits for people. */
  readonly isPaused: boolean;
}

interface Node {
  readonly run: OutputRun;
  readonly children: Node[];
}

/** @param runs all runs of the trace, in tree order @returns the id of the run, or null */
export function finalOutputRun(runs: readonly OutputRun[]): string | null {
  const root = buildTree(runs);
  if (root === null || root.run.end === null || root.run.status !== "success") return null;
  if (root.run.isPaused) return continuedBy(root);
  return root.run.hasOutput ? null : (below(root)?.id ?? null);
}

/** A run whose parent is missing counts as a child of the nearest run above it. */
function buildTree(runs: readonly OutputRun[]): Node | null {
  const [first, ...others] = runs;
  if (first === undefined || first.dottedOrder.includes(".")) return null;
  const root: Node = { run: first, children: [] };
  const above: Node[] = [root];
  for (const run of others) {
    let parent = above.at(-1) ?? root;
    while (parent !== root && !run.dottedOrder.startsWith(`${parent.run.dottedOrder}.`)) {
      above.pop();
      parent = above.at(-1) ?? root;
    }
    const node: Node = { run, children: [] };
    parent.children.push(node);
    above.push(node);
  }
  return root;
}

function continuedBy({ children }: Node): string | null {
  const runs = lastFirst(children).map(({ run }) => run);
  const last = runs.find(({ isAgentRun, end }) => isAgentRun && end !== null);
  return last !== undefined && last.status === "success" && !last.isPaused && last.hasOutput ? last.id : null;
}

const ANSWERS = ["llm", "chain", "parser"];

function below({ children }: Node): OutputRun | null {
  const ended = lastFirst(children.filter(({ run }) => run.end !== null && run.status === "success"));
  for (const types of [ANSWERS, ["tool"]]) {
    for (const node of ended) {
      if (!types.includes(node.run.type)) continue;
      if (node.run.hasOutput) return node.run;
      const found = below(node);
      if (found !== null) return found;
    }
  }
  return null;
}

function lastFirst(nodes: readonly Node[]): readonly Node[] {
  return nodes.toReversed().toSorted((a, b) => (b.run.end ?? 0) - (a.run.end ?? 0));
}

const SMALL_OUTPUT_BYTES = 200;
/** A small output, sealed. */
const SEALED_OUTPUT_BYTES = 400;

/** @param bytes as stored @param text opened; null if it is stored in more than SEALED_OUTPUT_BYTES */
export function hasOutput(bytes: number, text: string | null): boolean {
  if (text === null) return bytes > SMALL_OUTPUT_BYTES;
  return Buffer.byteLength(text) > SMALL_OUTPUT_BYTES || !isEmpty(JSON.parse(text));
}

/** For the SQL of hasOutput(): long outputs are not read. */
export const OUTPUT_SIZE = `coalesce(octet_length(outputs), 0) AS output_bytes,
  CASE WHEN octet_length(outputs) <= ${SEALED_OUTPUT_BYTES} THEN outputs END AS small_output`;

function isEmpty(value: unknown): boolean {
  if (value === null || value === "") return true;
  return typeof value === "object" && Object.values(value).every(isEmpty);
}
