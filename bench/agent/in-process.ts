// The limit: the same graph in this process with the library's MemorySaver, no server. Runs as a process of its own,
// which measures each time its parent sends a number of cycles. Arguments: bytes of state, cycles before those.
// Invariant: a saver holds at most THREADS_MAX threads. One that grows would slow the library down.
import { Command, MemorySaver } from "@langchain/langgraph";
import { builder } from "../graphs/graph.ts";
import { cpuSeconds, median } from "../measure.ts";

const THREADS_MAX = 200;

const [stateBytes = 1000, warmUp = 300] = process.argv.slice(2).map(Number);
const text = "x".repeat(stateBytes);
const compile = () => builder.compile({ checkpointer: new MemorySaver() });
let graph = compile();
let count = 0;

async function cycle(): Promise<void> {
  if (++count % THREADS_MAX === 0) graph = compile();
  const config = { configurable: { thread_id: String(count) } };
  await graph.invoke({ text }, config);
  const end = await graph.invoke(new Command({ resume: "approved" }), config);
  if (end.log.at(-1) !== "finish") throw new Error("the cycle did not end");
}

async function measure(cycles: number): Promise<void> {
  const latencies: number[] = [];
  const before = cpuSeconds();
  for (let at = 0; at < cycles; at++) {
    const startedAt = performance.now();
    await cycle();
    latencies.push(performance.now() - startedAt);
  }
  process.send?.({ cpuSeconds: cpuSeconds() - before, medianMs: median(latencies) });
}

for (let at = 0; at < warmUp; at++) await cycle();
process.on("message", (cycles: number) => void measure(cycles));
process.send?.("ready");
