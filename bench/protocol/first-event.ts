// Time from the request that starts a run to its first event: of a REST stream, and at an attached reader of the thread.
// Arguments: url, rounds. Prints one JSON line with medians in milliseconds.
import { randomUUID } from "node:crypto";
import { Agent, request, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { median } from "../measure.ts";

const [url = "", rounds = "200"] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const input = { text: "x".repeat(1000) };

function post(path: string, body: object): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const payload = JSON.stringify(body);
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(payload) };
    request(`${url}${path}`, { method: "POST", agent, headers }, resolve).on("error", reject).end(payload);
  });
}

async function newThread(): Promise<string> {
  const id = randomUUID();
  await text(await post("/threads", { thread_id: id }));
  return id;
}

async function rest(): Promise<number> {
  const id = await newThread();
  const startedAt = performance.now();
  const response = await post(`/threads/${id}/runs/stream`, { assistant_id: "bench", input });
  let first = 0;
  for await (const piece of response) {
    if (first === 0 && String(piece).includes("event: ")) first = performance.now() - startedAt;
  }
  return first;
}

async function protocol(): Promise<number> {
  const id = await newThread();
  const stream = await post(`/threads/${id}/stream/events`, { channels: ["lifecycle", "values"] });
  const startedAt = performance.now();
  const replied = post(`/threads/${id}/commands`, {
    id: 1,
    method: "run.start",
    params: { assistant_id: "bench", input },
  }).then(text);
  let first = 0;
  for await (const piece of stream) {
    if (first === 0 && String(piece).includes("event: ")) first = performance.now() - startedAt;
    if (String(piece).includes(":interrupted:")) break;
  }
  await replied;
  return first;
}

const [rests, protocols]: number[][] = [[], []];
for (let round = 0; round < Number(rounds) * 2; round++) {
  const [one, other] = [await rest(), await protocol()];
  if (round < Number(rounds)) continue; // warming up
  rests?.push(one);
  protocols?.push(other);
}
agent.destroy();
console.log(JSON.stringify({ restMs: median(rests ?? []), protocolMs: median(protocols ?? []) }));
