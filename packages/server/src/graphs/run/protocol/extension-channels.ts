// Extension channels: the stream transformers that a graph was compiled with, and their additions to the events of a run.
// Invariants:
//   - A transformer's writes to a channel follow the chunk that caused them, under the namespace of that chunk, and
//     precedes the chunk's own event. Final values come at the end of the run.
//   - A transformer sees each chunk of the run once, in order. One that throws fails the run, as a node does.
import type * as LangGraph from "@langchain/langgraph";
import type { Chunk } from "../../langgraph/stream-chunk.ts";
import type { Namespace } from "./child-lifecycle.ts";

type Transformer = LangGraph.StreamTransformer;
type Event = Parameters<Transformer["process"]>[0];
type Channel = LangGraph.StreamChannel<unknown>;

export interface Extensions {
  chunk(chunk: Chunk): void;
  /** Final values. */
  ended(): Promise<void>;
}

type Library = Pick<typeof LangGraph, "convertToProtocolEvent" | "StreamChannel">;
type Emit = (ns: Namespace, name: string, payload: unknown) => void;

/** @param factories of the compiled graph @returns null without any */
export function createExtensions(factories: unknown, library: Library, emit: Emit): Extensions | null {
  if (!Array.isArray(factories) || factories.length === 0) return null;
  const transformers = (factories as (() => Transformer)[]).map((make) => make());
  const channels: { readonly name: string; readonly channel: Channel; consumed: number }[] = [];
  const finals: (readonly [name: string, value: PromiseLike<unknown>])[] = [];
  for (const [key, value] of transformers.flatMap((one) => Object.entries(initProjection(one)))) {
    if (library.StreamChannel.isInstance(value)) {
      const { channelName: name } = value;
      if (typeof name === "string") channels.push({ name, channel: value, consumed: 0 });
    } else if (isPromiseLike(value)) finals.push([key, value]);
  }
  const process = (event: Event): void => {
    for (const one of transformers) one.process(event);
  };
  const take = (ns: Namespace): void => {
    for (const entry of channels) {
      while (entry.consumed < entry.channel.size) emit(ns, entry.name, entry.channel.get(entry.consumed++));
    }
  };
  for (const one of transformers) one.onRegister?.({ push: (_ns, event) => process(event) });
  let seq = 0;
  return {
    chunk({ ns, mode, payload }) {
      const converted = library.convertToProtocolEvent({ namespace: [...ns], mode: mode as "values", payload, seq });
      seq += converted.length;
      for (const event of converted) process(event);
      take(ns);
    },
    async ended() {
      await Promise.all(transformers.map(async (one) => one.finalize?.()));
      take([]);
      for (const [name, value] of finals) {
        const found = await Promise.allSettled([value]);
        for (const one of found) if (one.status === "fulfilled") emit([], name, one.value);
      }
    },
  };
}

function initProjection(transformer: Transformer): Readonly<Record<string, unknown>> {
  return (transformer.init() ?? {}) as Readonly<Record<string, unknown>>;
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
