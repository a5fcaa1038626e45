// Graphs whose questions come in any order: each records `<place> <- <answer>`.
import { AIMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import {
  Annotation,
  END,
  entrypoint,
  interrupt,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
  task,
} from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { setTimeout as passes } from "node:timers/promises";
import { z } from "zod";

const log = Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] });
const State = Annotation.Root({ log, place: Annotation<string>, notes: Annotation<string>, count: Annotation<number> });
const NAMES = ["delete_file", "send_mail", "drop_table", "pay"];

const lookUp = (): Promise<void> => passes(Math.random() * 8);
const ask = (place: string, more: object = {}): string => `${place} <- ${String(interrupt({ place, ...more }))}`;
const askLater = async (place: string, more: object = {}): Promise<string> => {
  await lookUp();
  return ask(place, more);
};

const asking = (name: string, questions: number, more = () => ({})) =>
  tool(
    async ({ which = "" }) => {
      const answers: string[] = [];
      for (let at = 0; at < questions; at++)
        answers.push(await askLater(`${name}${which}${at === 0 ? "" : `.${at}`}`, more()));
      return answers.join("\n");
    },
    { name, description: name, schema: z.object({ which: z.string().optional() }) },
  );
const calls = (names: readonly string[], args: (at: number) => object = () => ({})) =>
  new AIMessage({
    content: "",
    tool_calls: names.map((name, at) => ({ id: `call ${at}`, name, args: args(at), type: "tool_call" as const })),
  });
const toolGraph = (message: AIMessage, tools: ConstructorParameters<typeof ToolNode>[0]) =>
  new StateGraph(MessagesAnnotation)
    .addNode("model", () => ({ messages: [message] }))
    .addNode("tools", new ToolNode(tools))
    .addEdge(START, "model")
    .addEdge("model", "tools")
    .addEdge("tools", END)
    .compile();

export const twoTools = toolGraph(
  calls(NAMES.slice(0, 2)),
  NAMES.map((name) => asking(name, 1)),
);
export const fourTools = toolGraph(
  calls(NAMES),
  NAMES.map((name) => asking(name, 1, () => ({ at: Date.now() }))),
);
export const sameTool = toolGraph(
  calls(["pay", "pay", "pay"], (at) => ({ which: ` ${at}` })),
  [asking("pay", 1)],
);
export const sameCall = toolGraph(calls(["pay", "pay"]), [asking("pay", 1)]);
export const toolsTwice = toolGraph(
  calls(NAMES.slice(0, 3)),
  NAMES.map((name, at) => asking(name, at + 1)),
);

type Node = (state: typeof State.State) => Promise<string[]> | string[];
const RETRIES = { retryPolicy: { maxAttempts: 3, initialInterval: 1, jitter: false, logWarning: false } };
const oneNode = (node: Node, options: typeof RETRIES | object = {}) =>
  new StateGraph(State)
    .addNode("ask", async (state: typeof State.State) => ({ log: await node(state) }), options)
    .addEdge(START, "ask")
    .addEdge("ask", END)
    .compile();

export const helpers = oneNode(() => Promise.all(NAMES.slice(0, 3).map((name) => askLater(name))));
export const timedHelpers = oneNode(() =>
  Promise.all(NAMES.slice(0, 3).map((name) => askLater(name, { at: new Date(), id: crypto.randomUUID() }))),
);
export const loop = oneNode(async () => {
  const lines: string[] = [];
  for (const name of [...NAMES, ...NAMES]) lines.push(await askLater(name));
  return lines;
});
export const times = oneNode(() => [
  ask("a", { at: Date.now(), nonce: Math.random() }),
  ask("a", {
    at: new Date().toISOString(),
    id: crypto.randomUUID(),
    expires_at: new Date(Date.now() + 7e6).toISOString(),
  }),
]);

/** The question of the node changes from one run of it to the next. */
export const changing = oneNode(() => [ask(NAMES[Math.floor(Math.random() * NAMES.length)] ?? "")]);
/** The first question is there only the first time. */
export const conditional = new StateGraph(State)
  .addNode("ask", ({ notes }) => {
    const first = !seen.has(notes);
    seen.add(notes);
    return { log: [...(first ? [ask("delete_file")] : []), ask("drop_table")] };
  })
  .addEdge(START, "ask")
  .addEdge("ask", END)
  .compile();
const seen = new Set<string>();

const below = new StateGraph(State)
  .addNode("ask", async ({ place }) => ({ log: [await askLater(place)] }))
  .addEdge(START, "ask")
  .addEdge("ask", END)
  .compile();
export const subgraphs = oneNode(async () => {
  const results = await Promise.all(NAMES.slice(0, 3).map((place) => below.invoke({ place })));
  return results.map(({ log: [line] }, at) =>
    line?.startsWith(NAMES[at] ?? "?") === true ? line : `${NAMES[at]} <- ${line}`,
  );
});
const subgraphTool = (name: string) =>
  tool(
    async () => {
      await lookUp();
      const {
        log: [line],
      } = await below.invoke({ place: name });
      return line?.startsWith(name) === true ? line : `${name} <- ${line}`;
    },
    { name, description: name, schema: z.object({}) },
  );
export const subgraphTools = toolGraph(
  calls(NAMES.slice(0, 3)),
  NAMES.map((name) => subgraphTool(name)),
);

const askTask = task("askTask", (place: string) => askLater(place));
export const tasks = entrypoint({ name: "tasks" }, async () => ({
  log: await Promise.all(NAMES.slice(0, 3).map((place) => askTask(place))),
}));

export const sends = new StateGraph(State)
  .addNode("ask", async ({ place }) => ({ log: [await askLater(place), await askLater(`${place}.1`)] }))
  .addConditionalEdges(START, () => NAMES.map((place) => new Send("ask", { place })))
  .addEdge("ask", END)
  .compile();

const failed = new Set<string>();
/** The node fails once after its answers. */
export const retried = oneNode(async ({ notes }) => {
  const lines = await Promise.all(NAMES.slice(0, 2).map((name) => askLater(name)));
  if (!failed.has(notes)) {
    failed.add(notes);
    throw new Error("fails once");
  }
  return lines;
}, RETRIES);
