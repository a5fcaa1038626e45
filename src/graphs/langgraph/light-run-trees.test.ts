import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CallbackManager } from "@langchain/core/callbacks/manager";
import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";
import { LangChainTracer } from "@langchain/core/tracers/tracer_langchain";
import { RunTree, isRunTree } from "langsmith/run_trees";
import { traceable } from "langsmith/traceable";
import { StateGraph, StateSchema, START } from "@langchain/langgraph"; // gives the provider its storage
import * as z from "zod";
import { type Provider, useLightRunTrees } from "./light-run-trees.ts";

const CONFIG = Symbol.for("lc:child_config");
const VARIABLES = Symbol.for("lc:context_variables");

/** The library's provider, as a module that nobody has changed. */
function freshProvider(): Provider {
  const library = Object.getPrototypeOf(AsyncLocalStorageProviderSingleton) as object;
  return Object.create(library) as Provider;
}

function lightProvider(): Provider {
  const provider = freshProvider();
  useLightRunTrees(provider);
  return provider;
}

const treeIn = (provider: Provider, config: object = {}): RunTree =>
  provider.runWithConfig(config, () => provider.getInstance().getStore() as RunTree);

describe("a call of a runnable that nobody traces", () => {
  test("has its config in the asynchronous context, as with the library alone", () => {
    const config = { configurable: { thread_id: "1" } };
    for (const provider of [freshProvider(), lightProvider()]) {
      const tree = treeIn(provider, config);
      assert.equal((tree.extra as Record<symbol, unknown>)[CONFIG], config);
      assert.equal(tree.tracingEnabled, false);
    }
  });

  test("gets no whole run tree until somebody reads one", () => {
    const tree = treeIn(lightProvider());
    assert.deepEqual(Object.keys(tree), ["extra", "tracingEnabled"]);
    assert.ok(tree.id.length > 0);
    assert.deepEqual(new Set(Object.keys(tree)), new Set(Object.keys(treeIn(freshProvider()))));
  });

  test("has a run tree with the members of a whole one, and an id of its own", () => {
    const [provider, library] = [lightProvider(), freshProvider()];
    const [tree, other, whole] = [treeIn(provider), treeIn(provider), treeIn(library)];
    assert.ok(tree instanceof RunTree && isRunTree(tree));
    assert.equal(tree.constructor, whole.constructor);
    for (const name of Object.keys(whole) as (keyof RunTree)[]) {
      assert.equal(typeof tree[name], typeof whole[name], name);
    }
    assert.equal(tree.name, whole.name);
    assert.equal(tree.trace_id, tree.id);
    assert.notEqual(tree.id, other.id);
    assert.equal(tree.createChild({ name: "child" }).parent_run?.id, tree.id);
    const changed = treeIn(provider);
    changed.name = "renamed";
    assert.equal(changed.name, "renamed");
  });

  test("keeps the variables of the context", () => {
    const provider = lightProvider();
    const variables = { answer: 42 };
    const outer = { [VARIABLES]: variables };
    const inner = provider.getInstance().run(outer, () => treeIn(provider));
    assert.equal((inner as unknown as Record<symbol, unknown>)[VARIABLES], variables);
    assert.equal(typeof inner.extra, "object");
  });

  test("may call a traceable function", async () => {
    const provider = lightProvider();
    const add = traceable(async (a: number, b: number) => a + b, { name: "add" });
    assert.equal(await provider.runWithConfig({}, () => add(2, 3)), 5);
  });
});

test("a traced call keeps the library's tree", () => {
  const tracer = new LangChainTracer();
  const whole = new RunTree({ name: "traced", tracingEnabled: true });
  tracer.getRunTreeWithTracingConfig = (id) => (id === "caller" ? whole : undefined);
  const callbacks = new CallbackManager("caller");
  callbacks.addHandler(tracer);
  for (const provider of [freshProvider(), lightProvider()]) {
    const tree = treeIn(provider, { callbacks });
    assert.equal(tree, whole);
  }
});

test("a call without a tree of its own gets none", () => {
  const provider = lightProvider();
  assert.equal(
    provider.runWithConfig({}, () => provider.getInstance().getStore(), true),
    undefined,
  );
});

describe("a library that works in another way keeps its run trees", () => {
  const storage = freshProvider().getInstance();
  const variants: Record<string, Provider["runWithConfig"]> = {
    "with the config in another place": (config, call) => storage.run({ config }, call),
    "with more of itself": function (this: object, config, call) {
      if (Object.keys(this).includes("getInstance")) throw new TypeError("this.tracer is not a function");
      return storage.run(new RunTree({ name: "own", tracingEnabled: false, extra: { [CONFIG]: config } }), call);
    },
  };
  for (const [name, runWithConfig] of Object.entries(variants)) {
    test(name, () => {
      const provider: Provider = Object.create({ runWithConfig, getInstance: () => storage });
      const before = Object.keys(treeIn(provider));
      useLightRunTrees(provider);
      assert.deepEqual(Object.keys(treeIn(provider)), before);
      assert.deepEqual(Object.keys(treeIn(provider)), before);
    });
  }
});

/** Through every layer of the library. */
test("a graph finds its config in a node", async () => {
  const { getConfig } = await import("@langchain/langgraph");
  useLightRunTrees(AsyncLocalStorageProviderSingleton);
  useLightRunTrees(AsyncLocalStorageProviderSingleton);
  const state = new StateSchema({ seen: z.string() });
  const graph = new StateGraph(state)
    .addNode("look", () => ({ seen: String(getConfig().configurable?.["mark"]) }))
    .addEdge(START, "look")
    .compile();
  assert.deepEqual(await graph.invoke({ seen: "" }, { configurable: { mark: "here" } }), { seen: "here" });
});
