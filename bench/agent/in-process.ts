// The limit: the same graph in this process with the library's MemorySaver, no server. Prints one JSON line.
// Arguments: cycles, bytes of state, cycles before those.
import { Command, MemorySaver } from "@langchain/langgraph";
import { builder } from "../graphs/graph.ts";
import { cpuSeconds, median } from "../measure.ts";

const [cycles = 1000, stateBytes = 1000, warmUp = 300] = process.argv.slice(2).map(Number);
const text = "x".repeat(stateBytes);

async function cycle(graph: ReturnType<typeof compile>, id: string): Promise<void> {
  const config = { configurable: { thread_id: id } };
  await graph.invoke({ text }, config);
  const end = await graph.invoke(new Command({ resume: "approved" }), config);
  if (end.log.at(-1) !== "finish") throw new Error("the cycle did not end");
}
const compile = () => builder.compile({ checkpointer: new MemorySaver() });

let graph = compile();
for (let at = 0; at < warmUp; at++) await cycle(graph, `warm-${at}`);
graph = compile();
const latencies: number[] = [];
const before = cpuSeconds();
for (let at = 0; at < cycles; at++) {
  const startedAt = performance.now();
  await cycle(graph, String(at));
  latencies.push(performance.now() - startedAt);
}
console.log(JSON.stringify({ cycles, cpuSeconds: cpuSeconds() - before, medianMs: median(latencies) }));
