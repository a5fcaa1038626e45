// Memory: graphs that use the store in every way that LangGraph offers, and the embedding functions of the tests.
import {
  Annotation,
  getStore,
  InMemoryStore,
  StateGraph,
  type BaseStore,
  type LangGraphRunnableConfig,
} from "@langchain/langgraph";

const State = Annotation.Root({
  /** An operation on the store: the name of a method, and its parameters. */
  calls: Annotation<(readonly [method: string, ...parameters: unknown[]])[]>,
  results: Annotation<unknown[]>({ reducer: (before, now) => before.concat(now), default: () => [] }),
  put: Annotation<string | undefined>,
});

type Methods = Record<string, (...parameters: unknown[]) => Promise<unknown>>;

/** Values without a JSON form, which a run's input cannot carry. */
const ODD: Readonly<Record<string, unknown>> = {
  function: { f: () => 1 },
  map: { m: new Map() },
  date: { at: new Date(0) },
};

async function use(store: BaseStore | undefined, calls: typeof State.State.calls): Promise<unknown[]> {
  if (store === undefined) return ["no store"];
  const results: unknown[] = [];
  for (const [method, ...parameters] of calls) {
    const given = parameters.map((parameter) =>
      typeof parameter === "string" && parameter.startsWith("odd:") ? ODD[parameter.slice(4)] : parameter,
    );
    results.push((await (store as unknown as Methods)[method]?.(...given)) ?? null);
  }
  return results;
}

const build = () =>
  new StateGraph(State)
    .addNode("use", async ({ calls }, config) => ({ results: await use(config.store, calls) }))
    .addEdge("__start__", "use")
    .addEdge("use", "__end__");

export const memory = build().compile();

export const memoryOfItsOwn = build().compile({ store: new InMemoryStore() });

const child = new StateGraph(State)
  .addNode("inside", async ({ calls }) => ({ results: await use(getStore(), calls) }))
  .addEdge("__start__", "inside")
  .addEdge("inside", "__end__")
  .compile();

export const memoryInSubgraph = new StateGraph(State)
  .addNode("child", child)
  .addEdge("__start__", "child")
  .addEdge("child", "__end__")
  .compile();

/** A put whose node then hangs: its promise must resolve after the write to disk. */
export const memoryThenHang = new StateGraph(State)
  .addNode("hang", async ({ put }, { store, signal }) => {
    await store?.put(["hang"], put ?? "", { kept: true });
    await new Promise((resolve) => signal?.addEventListener("abort", resolve));
    return {};
  })
  .addEdge("__start__", "hang")
  .addEdge("hang", "__end__")
  .compile();

/** Leaves a mark in the store for every run: for tests that count the ticks of crons. */
export const ticker = new StateGraph(Annotation.Root({ mark: Annotation<string> }))
  .addNode("tick", async ({ mark }, { store, configurable = {}, metadata }: LangGraphRunnableConfig) => {
    const { run_id: runId, thread_id: threadId } = configurable;
    await store?.put(["ticks", mark], String(runId), { thread_id: threadId, due: metadata?.["cron_due"] });
    return {};
  })
  .addEdge("__start__", "tick")
  .addEdge("tick", "__end__")
  .compile();

const WORDS = ["cat", "dog", "car"];

/** One direction a word; texts with "fail", "short" or "nan" go wrong in the way that they say. */
export async function embed(texts: string[]): Promise<number[][]> {
  return texts.map((text) => {
    if (text.includes("fail")) throw new Error("the model is not at home");
    if (text.includes("short")) return [1];
    if (text.includes("nan")) return [Number.NaN, 0, 0];
    return WORDS.map((word) => text.split(word).length - 1);
  });
}

/** A LangChain Embeddings object, with separate methods for queries and items. */
export const model = {
  embedDocuments: embed,
  embedQuery: async (text: string) => (await embed([text.replace("animal", "cat dog")]))[0],
};
