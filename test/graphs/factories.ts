// Graphs that functions make for each use, from its config and runtime.
import { Annotation, interrupt, StateGraph } from "@langchain/langgraph";

interface Given {
  readonly configurable?: Readonly<Record<string, unknown>>;
}

interface Runtime {
  readonly accessContext: string;
  readonly executionRuntime: { readonly context?: unknown } | null;
}

const State = Annotation.Root({ said: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }) });

/** The config names its only node. */
export function dynamic({ configurable }: Given) {
  const name = typeof configurable?.["nodeName"] === "string" ? configurable["nodeName"] : "default";
  return new StateGraph(State)
    .addNode(name, () => ({ said: [name] }))
    .addEdge("__start__", name as "__start__")
    .compile({ interruptBefore: configurable?.["held"] === true ? [name as "__start__"] : [] });
}

/** As dynamic(), with an interrupt in its node. */
export async function asking({ configurable }: Given) {
  await Promise.resolve();
  const name = typeof configurable?.["nodeName"] === "string" ? configurable["nodeName"] : "default";
  return new StateGraph(State)
    .addNode(name, () => {
      const answer: string = interrupt({ by: name });
      return { said: [`${name}: ${answer}`] };
    })
    .addEdge("__start__", name);
}

const Seen = Annotation.Root({
  factory: Annotation<unknown>,
  access: Annotation<string>,
  node: Annotation<unknown>,
  legacy: Annotation<unknown>,
  calls: Annotation<number>,
});

let calls = 0;

/** Returns its runtime and config; throws or hangs on demand. */
export async function runtime(config: Given, { accessContext, executionRuntime }: Runtime) {
  calls++;
  const context = executionRuntime?.context as Readonly<Record<string, unknown>> | undefined;
  if (context?.["reject"] === true) throw new TypeError("refused by the factory");
  if (context?.["hang"] === true) await new Promise(() => undefined);
  return new StateGraph(Seen)
    .addNode("capture", (_, { context: own }) => ({
      factory: context ?? null,
      access: accessContext,
      node: own ?? null,
      legacy: config.configurable?.["legacy"] ?? null,
      calls,
    }))
    .addEdge("__start__", "capture")
    .compile();
}

/** Rejects states made for runs. */
export function reading(config: Given, { accessContext }: Runtime) {
  if (accessContext === "threads.read" && config.configurable?.["broken"] === true) throw new Error("no state for you");
  const graph = new StateGraph(Seen)
    .addNode("capture", () => ({ access: accessContext }))
    .addEdge("__start__", "capture");
  const compiled = graph.compile();
  if (accessContext === "threads.read") return compiled;
  const refuse = (method: string) => () => Promise.reject(new Error(`${method} for ${accessContext}`));
  if (accessContext === "threads.create_run") return Object.assign(compiled, { bulkUpdateState: refuse("edit") });
  return accessContext === "threads.update" ? compiled : Object.assign(compiled, { getState: refuse("read") });
}
