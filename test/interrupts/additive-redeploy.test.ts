// Tests of a deployment that extends a graph while a thread is paused at the second interrupt of a task. Rules:
//   additive-redeploy.1. The interrupt is that of its node, and keeps its id and its path; its answer continues in the
//        new graph, including the new nodes.
//   additive-redeploy.2. Without the interrupted node the answer fails, and the interrupt stays open.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { writeProject } from "../harness/project.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";
import { removeFolder, temporaryFolder } from "../harness/server.ts";
import { newThread, onlyQuestion, openThread, readProblem } from "../harness/threads.ts";

const folders: string[] = [];
after(() => folders.forEach(removeFolder));

interface Version {
  readonly asking: string;
  /** Whether parent and child get more: another channel, and a node behind the asking one. */
  readonly adds: boolean;
}

function source({ asking, adds }: Version): string {
  return `
import { Annotation, interrupt, StateGraph } from "@langchain/langgraph";
const done = Annotation({ reducer: (before, now) => before.concat(now), default: () => [] });
const State = Annotation.Root({ done${adds ? ", added: Annotation()" : ""} });
const asks = () => ({ done: [interrupt("first"), interrupt("second")] });
const added = () => ({ done: ["added"], added: true });
const chain = (node) => {
  const graph = new StateGraph(State).addNode("${asking}", node).addEdge("__start__", "${asking}");
  return ${adds} ? graph.addNode("more", added).addEdge("${asking}", "more").compile() : graph.compile();
};
export const plain = chain(asks);
export const nested = chain(chain(asks));
`;
}

function deployed(version: Version): string {
  const graphs = { plain: "./graph.js:plain", nested: "./graph.js:nested" };
  const files = { "package.json": { type: "module" }, "graph.js": source(version), "langgraph.json": { graphs } };
  const folder = writeProject(files);
  folders.push(folder);
  return join(folder, "langgraph.json");
}

const OLD = deployed({ asking: "ask", adds: false });
const ADDING = deployed({ asking: "ask", adds: true });
const WITHOUT = deployed({ asking: "ask_anew", adds: true });

async function onServer<T>(
  options: { readonly config: string; readonly dataDir: string },
  work: (server: ServerHere) => Promise<T>,
): Promise<T> {
  const server = await startServerHere(options);
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}

/** The names in the path of a question's task. */
function listNodes({ ns }: { readonly ns: readonly string[] }): readonly string[] {
  return ns.map((part) => part.slice(0, part.indexOf(":")));
}

for (const [graph, path, done] of [
  ["plain", ["ask"], ["1", "2", "added"]],
  ["nested", ["ask", "ask"], ["1", "2", "added", "added"]],
] as const)
  test(`${graph}: a second interrupt continues in an extended graph (additive-redeploy.1, additive-redeploy.2)`, async () => {
    const dataDir = temporaryFolder();
    folders.push(dataDir);
    const { threadId, asked } = await onServer({ config: OLD, dataDir }, async (server) => {
      const { threadId: id } = await newThread(server, graph);
      await openThread(server, graph, id).run({ input: {} });
      return { threadId: id, asked: onlyQuestion(await openThread(server, graph, id).resume("1")) };
    });
    assert.equal(asked.value, "second");
    assert.deepEqual(listNodes(asked), path); // of its task, by the number of the question

    await onServer({ config: WITHOUT, dataDir }, async (server) => {
      const refused = await openThread(server, graph, threadId).wait({ command: { resume: { [asked.id]: "2" } } });
      assert.equal(readProblem(refused).code, "graph_incompatible");
    });

    await onServer({ config: ADDING, dataDir }, async (server) => {
      const thread = openThread(server, graph, threadId);
      assert.deepEqual(
        (await thread.open()).map(({ id, ns }) => ({ id, ns })),
        [{ id: asked.id, ns: asked.ns }],
      );
      assert.deepEqual((await thread.resume({ [asked.id]: "2" }))["done"], done);
      assert.equal((await thread.get()).status, "idle");
    });
  });
