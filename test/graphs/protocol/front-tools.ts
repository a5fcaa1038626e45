// Graphs for front ends: tools that run in the page, a node that changes what it has shown, a subgraph that fails.
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { tool } from "@langchain/core/tools";
import { Annotation, interrupt, MessagesAnnotation, Send, StateGraph } from "@langchain/langgraph";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import * as z from "zod";

type Call = { readonly id: string; readonly name: string; readonly args: Readonly<Record<string, unknown>> };

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  calls: Annotation<Call[]>,
  seen: Annotation<unknown>,
});

/** Interrupts with its call, as LangChain's headless tools do; the page answers with `{<id of the call>: result}`. */
const inPage = (name: string) =>
  tool(
    (args, config) => {
      const { id = "" } = (config as { readonly toolCall?: { readonly id?: string } }).toolCall ?? {};
      const answer = interrupt({ type: "tool", toolCall: { id, name, args } }) as Readonly<Record<string, unknown>>;
      return JSON.stringify(answer[id]);
    },
    { name, description: "Runs in the page", schema: z.object({ of: z.string() }) },
  );

/** Calls the tools of the input in one message, each as a task of its own. */
export const headless = new StateGraph(State)
  .addNode("model", ({ calls }) => ({
    messages: [new AIMessage({ content: "", tool_calls: calls.map((one) => ({ ...one })) })],
  }))
  .addNode("tools", new ToolNode([inPage("locate"), inPage("battery")]))
  .addNode("ends", () => ({ messages: [new AIMessage("done")] }))
  .addEdge("__start__", "model")
  .addConditionalEdges(
    "model",
    (state) =>
      (state.calls ?? []).map((one) => new Send("tools", { ...state, lg_tool_call: { ...one, type: "tool_call" } })),
    ["tools"],
  )
  .addEdge("tools", "ends")
  .addEdge("ends", "__end__")
  .compile();

/** Changes the objects that it has written and returned, once they are on their way. */
export const changing = new StateGraph(State)
  .addNode("writes", async (_state, config) => {
    const shown = { n: 1, list: ["first"] };
    const message = new HumanMessage({ id: "m", content: "first" });
    config.writer?.(shown);
    await nextTurn();
    shown.n = 2;
    shown.list.push("second");
    return { seen: shown, messages: [message] };
  })
  .addNode("changes", async ({ seen, messages }) => {
    await nextTurn();
    (seen as { n: number }).n = 3;
    const [message] = messages;
    if (message !== undefined) message.content = "third";
    return {};
  })
  .addEdge("__start__", "writes")
  .addEdge("writes", "changes")
  .addEdge("changes", "__end__")
  .compile();

const broken = new StateGraph(State)
  .addNode("breaks", () => {
    throw new TypeError("broken below");
  })
  .addEdge("__start__", "breaks")
  .addEdge("breaks", "__end__")
  .compile();

export const failsBelow = new StateGraph(State)
  .addNode("below", broken)
  .addEdge("__start__", "below")
  .addEdge("below", "__end__")
  .compile();

/** Its model streams a message of so many words, letter by letter. */
export const talks = new StateGraph(State)
  .addNode("talks", async (_state, { configurable }) => {
    const model = new FakeListChatModel({ responses: ["word ".repeat(Number(configurable?.["words"] ?? 2000))] });
    return { messages: [await model.invoke("talk")] };
  })
  .addEdge("__start__", "talks")
  .addEdge("talks", "__end__")
  .compile();
