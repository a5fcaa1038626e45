// Graphs for the channels of the thread protocol: models with reasoning, tool calls and images, tools of all ends, an
// agent below a tool, stream transformers of a graph.
import { AIMessage, AIMessageChunk, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { FakeListChatModel, FakeStreamingChatModel } from "@langchain/core/utils/testing";
import { tool } from "@langchain/core/tools";
import { Annotation, interrupt, MessagesAnnotation, Send, StateGraph, StreamChannel } from "@langchain/langgraph";
import type { ProtocolEvent } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import * as z from "zod";

type Call = { readonly id: string; readonly name: string; readonly args: Readonly<Record<string, unknown>> };

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  /** Calls of the model's first message. */
  calls: Annotation<Call[]>,
});

const text = z.object({ text: z.string() });

const search = tool(
  async function* ({ text: wanted }) {
    yield "half ";
    yield "whole";
    return `found ${wanted}`;
  },
  { name: "search", description: "Finds", schema: text },
);
const fail = tool(() => Promise.reject(new Error("no network")), { name: "fail", description: "Fails", schema: text });
const confirm = tool(({ text: question }) => `said ${JSON.stringify(interrupt(question))}`, {
  name: "confirm",
  description: "Asks",
  schema: text,
});

/** An agent of its own, as a tool: its messages and tools come under the namespace of the call. */
const helper = new StateGraph(MessagesAnnotation)
  .addNode("helps", async (state) => ({
    messages: [await new FakeListChatModel({ responses: [`Did ${state.messages[0]?.text}.`] }).invoke(state.messages)],
  }))
  .addEdge("__start__", "helps")
  .addEdge("helps", "__end__")
  .compile();

const task = tool(
  async ({ description }, config) => {
    const { messages } = await helper.invoke({ messages: [new HumanMessage(description)] }, config);
    return messages.at(-1)?.text ?? "";
  },
  { name: "task", description: "Delegates", schema: z.object({ description: z.string(), subagent_type: z.string() }) },
);

const routeTools = (state: typeof State.State): Send[] | "__end__" => {
  const last = state.messages.at(-1);
  const calls = AIMessage.isInstance(last) ? (last.tool_calls ?? []) : [];
  if (calls.length === 0) return "__end__";
  return calls.map((call) => new Send("tools", { ...state, lg_tool_call: { ...call, type: "tool_call" } }));
};

/** Its model calls the tools of the input in one message, each call as a task of its own, and then says "done". */
export const tooled = new StateGraph(State)
  .addNode("model", (state) => {
    if (state.messages.some((message) => ToolMessage.isInstance(message))) return { messages: [new AIMessage("done")] };
    return { messages: [new AIMessage({ content: "", tool_calls: state.calls.map((call) => ({ ...call })) })] };
  })
  .addNode("tools", new ToolNode([search, fail, confirm, task]))
  .addEdge("__start__", "model")
  .addConditionalEdges("model", routeTools, ["tools", "__end__"])
  .addEdge("tools", "model")
  .compile();

const chunk = (fields: object): AIMessageChunk => new AIMessageChunk({ content: "", ...fields });

/** Says its chunks as they are. */
class Scripted extends FakeStreamingChatModel {
  override async *_streamResponseChunks(): AsyncGenerator<ChatGenerationChunk> {
    for (const message of this.chunks) yield new ChatGenerationChunk({ message, text: message.text });
  }
}

/** The message of a model, in chunks. */
const SPOKEN = [
  chunk({ content: [{ type: "reasoning", reasoning: "Look ", index: 0 }] }),
  chunk({ content: [{ type: "reasoning", reasoning: "it up.", index: 0 }] }),
  chunk({ content: [{ type: "text", text: "One ", index: 1 }] }),
  chunk({ content: [{ type: "text", text: "moment.", index: 1 }] }),
  chunk({ content: "", tool_call_chunks: [{ index: 2, id: "good", name: "search", args: '{"te' }] }),
  chunk({ content: "", tool_call_chunks: [{ index: 2, args: 'xt":"ham"}' }] }),
  chunk({ content: "", tool_call_chunks: [{ index: 3, id: "bad", name: "search", args: '{"text"' }] }),
  chunk({
    content: "",
    usage_metadata: { input_tokens: 9, output_tokens: 14, total_tokens: 23 },
    response_metadata: { finish_reason: "tool_calls" },
  }),
];

const MEDIA = Object.entries({ image: "image/png", audio: "audio/mpeg", video: "video/mp4", file: "application/pdf" });

/** Several kinds of messages: streamed blocks; one that no model made, with every kind of media. */
export const spoken = new StateGraph(MessagesAnnotation)
  .addNode("speaks", async () => ({ messages: [await new Scripted({ chunks: SPOKEN }).invoke("hi")] }))
  .addNode("shows", () => {
    const media = MEDIA.map(([type, mime_type]) => ({ type, url: `https://example.com/a.${type}`, mime_type }));
    return { messages: [new AIMessage({ id: "shown", content: [{ type: "text", text: "Look:" }, ...media] })] };
  })
  .addEdge("__start__", "speaks")
  .addEdge("speaks", "shows")
  .addEdge("shows", "__end__")
  .compile();

/** Counts what the nodes write, on a channel of its own, and has the sum at the end. */
const counter = () => {
  const progress = StreamChannel.remote<number>("progress");
  let count = 0;
  const { promise: sum, resolve } = Promise.withResolvers<number>();
  return {
    init: () => ({ progress, sum }),
    process(event: ProtocolEvent): boolean {
      if (event.method === "custom") progress.push(++count);
      return true;
    },
    finalize: () => resolve(count),
  };
};

export const extended = new StateGraph(State)
  .addNode("writes", (_state, config) => {
    config.writer?.("one");
    config.writer?.({ name: "a", payload: "two" });
    return {};
  })
  .addEdge("__start__", "writes")
  .addEdge("writes", "__end__")
  .compile({ transformers: [counter] });

/** Eight parallel tasks, each with a graph of its own. */
const part = new StateGraph(MessagesAnnotation)
  .addNode("works", (_state, config) => {
    config.writer?.("works");
    return {};
  })
  .addEdge("__start__", "works")
  .addEdge("works", "__end__")
  .compile();

export const fanned = new StateGraph(MessagesAnnotation)
  .addNode("plan", () => ({}))
  .addNode("part", part)
  .addEdge("__start__", "plan")
  .addConditionalEdges("plan", (state) => Array.from({ length: 8 }, () => new Send("part", state)), ["part"])
  .addEdge("part", "__end__")
  .compile();
