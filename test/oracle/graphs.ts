// Graphs: plans → programs of the library. An oracle test copies the file next to its generated langgraph.json, so that
// it resolves the library there.
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import {
  Annotation,
  Command,
  END,
  entrypoint,
  getConfig,
  interrupt,
  isGraphBubbleUp,
  isGraphInterrupt,
  MemorySaver,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
  task,
} from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import type { Body, GraphPlan, NodePlan, Plan } from "./plan.ts";

export { Command, MemorySaver };

/** Questions of observed threads: interrupt id → its first value. */
export const raised = new Map<string, Map<string, string>>();

const threadId = (): string => String(getConfig()?.configurable?.["thread_id"]);

function ask(question: string): string {
  try {
    return `${question}=${String(interrupt(question))}`;
  } catch (error) {
    const id = isGraphInterrupt(error) ? error.interrupts[0]?.id : undefined;
    const here = raised.get(threadId());
    if (id !== undefined && here !== undefined && !here.has(id)) here.set(id, question);
    throw error;
  }
}

const stumbled = new Set<string>();
function stumble(at: string): void {
  const key = `${threadId()} ${at}`;
  if (stumbled.has(key)) return;
  stumbled.add(key);
  throw new Error("stumbled");
}
const RETRY = { maxAttempts: 5, initialInterval: 1, maxInterval: 1, jitter: false, logWarning: false };

function caught(question: string): string[] {
  try {
    const answer = ask(question);
    throw new Error(answer);
  } catch (error) {
    if (isGraphBubbleUp(error)) throw error;
    return [`caught ${(error as Error).message}`];
  }
}

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b.filter((line) => !a.includes(line))], default: () => [] }),
  item: Annotation<string>({ reducer: (_, b) => b, default: () => "" }),
});
type Values = typeof State.State;
type Running = (tag: string) => Promise<string[]>;

/** @returns a runner of the body; `tag` distinguishes the questions of repeated bodies */
function runBody({ place, steps }: Body): Running {
  const made = steps.map((step) => {
    if (step.kind === "tasks") {
      return step.bodies.map((body) => task({ name: body.place, retry: RETRY }, runBody(body)));
    }
    return step.kind === "graph" ? buildGraph(step.graph).compile() : null;
  });
  return async (tag) => {
    const log: string[] = [];
    for (const [at, step] of steps.entries()) {
      const name = `${place}${tag}.${at}`;
      const part = made[at];
      if (step.kind === "ask") for (let n = 0; n < step.times; n++) log.push(ask(`${name}.${n}`));
      if (step.kind === "stumble") stumble(name);
      if (step.kind === "caught") log.push(...caught(name));
      if (step.kind === "tasks") {
        const calls = part as ((tag: string) => Promise<string[]>)[];
        for (let round = 0; round < step.rounds; round++) {
          const nameTag = (n: number): string => `${tag}/${at}.${round}.${n}`;
          if (step.parallel) log.push(...(await Promise.all(calls.map((call, n) => call(nameTag(n))))).flat());
          else for (const [n, call] of calls.entries()) log.push(...(await call(nameTag(n))));
        }
      }
      if (step.kind === "graph") {
        const graph = part as { invoke(values: object): Promise<Values> };
        for (let n = 0; n < step.times; n++) {
          log.push(
            ...(await graph.invoke({ item: `${tag}/${at}.${n}` })).log.map((line) => `in ${name}.${n}: ${line}`),
          );
        }
      }
    }
    return [...log, `${place}${tag} done`];
  };
}

function simulateAnswer({ asks, name }: { readonly asks: boolean; readonly name: string }): string {
  return asks ? ask(name) : `${name} quiet`;
}

function buildTools(asks: readonly boolean[]): Running {
  const refund = tool((input: unknown) => simulateAnswer(input as { readonly asks: boolean; readonly name: string }), {
    name: "refund",
    description: "asks",
    schema: {
      type: "object",
      properties: { name: { type: "string" }, asks: { type: "boolean" } },
      required: ["name", "asks"],
    },
  });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("tools", new ToolNode([refund]))
    .addEdge(START, "tools")
    .addEdge("tools", END)
    .compile();
  return async (tag) => {
    const calls = asks.map((one, n) => ({ id: `${n}`, name: "refund", args: { name: `${tag}.${n}`, asks: one } }));
    const { messages } = (await graph.invoke({
      messages: [new AIMessage({ content: "", tool_calls: calls })],
    })) as { messages: BaseMessage[] };
    return messages.slice(1).map(({ text }) => text);
  };
}

// oxlint-disable-next-line typescript/no-explicit-any -- node names are made up while it runs
type Builder = any;

function buildGraph(plan: GraphPlan): Builder {
  const builder: Builder = new StateGraph(State);
  let previous: string = START;
  plan.layers.forEach((layer, depth) => {
    const names = layer.map((node) => addNode(builder, node));
    const join = `join${depth}`;
    builder.addNode(join, () => ({}));
    names.forEach((name, at) => addEntry(builder, layer[at] as NodePlan, previous, name));
    builder.addEdge(
      names.map((name, at) => addExit(builder, layer[at] as NodePlan, name)),
      join,
    ); // a barrier for all of them
    previous = join;
  });
  builder.addEdge(previous, END);
  return builder;
}

function addNode(builder: Builder, node: NodePlan): string {
  if (node.kind === "graph") {
    builder.addNode(node.place, buildGraph(node.graph).compile());
    return node.place;
  }
  if (node.kind === "tools") {
    const run = buildTools(node.asks);
    builder.addNode(node.place, async ({ item }: Values) => ({ log: await run(`${node.place}${item}`) }));
    return node.place;
  }
  const { place } = node.body;
  const run = runBody(node.body);
  if (node.kind === "handled") {
    const handler = runBody(node.handler);
    builder.addNode(
      place,
      async ({ item }: Values) => {
        throw new Error((await run(item)).join("; "));
      },
      {
        errorHandler: async ({ item }: Values, { error }: { error: Error }) => ({
          log: [`handled ${error.message}`, ...(await handler(item))],
        }),
      },
    );
    return place;
  }
  const visits = node.kind === "body" ? node.visits : 1;
  const visit = async ({ item, log }: Values): Promise<object> => {
    const before = log.filter((line) => line.startsWith(`visit ${place}`)).length;
    const tag = visits === 1 ? item : `${item}v${before}`;
    return { log: [`visit ${place} ${tag}`, ...(await run(tag))] };
  };
  builder.addNode(place, visit, { retryPolicy: RETRY });
  return place;
}

function addEntry(builder: Builder, node: NodePlan, before: string, name: string): void {
  if (node.kind !== "sends") return void builder.addEdge(before, name);
  const items = Array.from({ length: node.items }, (_, n) => n);
  const sends = ({ item }: Values): Send[] => items.map((n) => new Send(name, { log: [], item: `${item}s${n}` }));
  const from = `${name}_from`; // a node has one condition without a name
  builder.addNode(from, () => ({}));
  builder.addEdge(before, from);
  builder.addConditionalEdges(from, sends, [name]);
}

/** @returns the node that runs after the final completion of this one */
function addExit(builder: Builder, node: NodePlan, name: string): string {
  if (node.kind !== "body" || node.visits === 1) return name;
  const visited = ({ log }: Values): number => log.filter((line) => line.startsWith(`visit ${name}`)).length;
  const left = `${name}_left`;
  builder.addNode(left, () => ({}));
  builder.addConditionalEdges(name, (state: Values) => (visited(state) < node.visits ? name : left), [name, left]);
  return left;
}

/** @param checkpointer of the library; a server brings its own */
export function buildProgram(plan: Plan, checkpointer?: MemorySaver): Builder {
  const options = checkpointer === undefined ? {} : { checkpointer };
  if (plan.kind === "graph") return buildGraph(plan.graph).compile(options);
  const run = runBody(plan.body);
  return entrypoint({ name: "main", ...options }, async () => ({ log: await run("") }));
}
