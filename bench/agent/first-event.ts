// Time to the first event of a streamed run, next to its parts: a GET /ok and the graph's first chunk in process.
// Arguments: url, rounds. Prints one JSON line with medians in milliseconds.
import { MemorySaver } from "@langchain/langgraph";
import { Agent, request, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { builder } from "../graphs/graph.ts";
import { median } from "../measure.ts";

const [url = "", rounds = "200"] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const input = { text: "x".repeat(1000) };

function call(method: string, path: string, body?: unknown): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const payload = body === undefined ? "" : JSON.stringify(body);
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(payload) };
    request(`${url}${path}`, { method, agent, headers }, resolve).on("error", reject).end(payload);
  });
}

async function getOk(): Promise<number> {
  const startedAt = performance.now();
  await text(await call("GET", "/ok"));
  return performance.now() - startedAt;
}

const graph = builder.compile({ checkpointer: new MemorySaver() });

async function firstChunk(round: number): Promise<number> {
  const startedAt = performance.now();
  const stream = await graph.stream(input, { configurable: { thread_id: String(round) }, streamMode: "values" });
  const reader = stream[Symbol.asyncIterator]();
  await reader.next();
  const took = performance.now() - startedAt;
  while ((await reader.next()).done !== true); // to its pause
  return took;
}

/** To the first event (metadata), and to the graph's first (values). */
async function firstEvents(): Promise<readonly [number, number]> {
  const { thread_id: id } = JSON.parse(await text(await call("POST", "/threads", {}))) as { thread_id: string };
  const startedAt = performance.now();
  const response = await call("POST", `/threads/${id}/runs/stream`, { assistant_id: "bench", input });
  let seen = "";
  let first = 0;
  let told = 0;
  for await (const piece of response) {
    seen += String(piece);
    if (first === 0 && seen.includes("\n\n")) first = performance.now() - startedAt;
    if (told === 0 && /event: values\n.*\nid: \d+\n\n/.test(seen)) told = performance.now() - startedAt;
  }
  return [first, told];
}

const [oks, chunks, firsts, tolds]: number[][] = [[], [], [], []];
for (let round = 0; round < Number(rounds) * 2; round++) {
  const [ok, chunk, [first, told]] = [await getOk(), await firstChunk(round), await firstEvents()];
  if (round < Number(rounds)) continue; // warming up
  oks?.push(ok);
  chunks?.push(chunk);
  firsts?.push(first);
  tolds?.push(told);
}
agent.destroy();
const [okMs, chunkMs, firstMs, toldMs] = [oks, chunks, firsts, tolds].map((list) => median(list ?? []));
console.log(JSON.stringify({ okMs, chunkMs, firstMs, toldMs }));
