// The load: pause-and-resume cycles over HTTP, from a process of its own. Prints one JSON line.
// Arguments: url, cycles, clients, bytes of state, assistant, `cycle` or `pause-only`, `blind` for a server whose waits
// reply without the state.
import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";
import { median } from "../measure.ts";

const [url = "", cycles = "1000", clients = "32", stateBytes = "1000", assistant = "bench"] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: Number(clients) });
const input = { text: "x".repeat(Number(stateBytes)) };
const isBlind = process.argv[8] === "blind";
const latencies: number[] = [];
let left = Number(cycles);

async function post(path: string, body: unknown): Promise<Record<string, unknown>> {
  const payload = JSON.stringify(body);
  const reply = await new Promise<string>((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(payload) };
    const call = request(`${url}${path}`, { method: "POST", agent, headers }, (response) => {
      text(response).then((body) => (response.statusCode === 200 ? resolve(body) : reject(new Error(body))), reject);
    });
    // A server may close a connection at rest just as it is used again.
    call.on("error", (error) => {
      if (call.reusedSocket) post(path, body).then((again) => resolve(JSON.stringify(again)), reject);
      else reject(error);
    });
    call.end(payload);
  });
  return JSON.parse(reply) as Record<string, unknown>;
}

async function client(): Promise<void> {
  while (left-- > 0) {
    const startedAt = performance.now();
    const { thread_id: thread } = await post("/threads", {});
    const paused = await post(`/threads/${String(thread)}/runs/wait`, { assistant_id: assistant, input });
    if (!isBlind && (!Array.isArray(paused["__interrupt__"]) || paused["__interrupt__"].length !== 1))
      throw new Error("no pause");
    if (process.argv[7] === "pause-only") continue;
    const ended = await post(`/threads/${String(thread)}/runs/wait`, {
      assistant_id: assistant,
      command: { resume: "approved" },
    });
    if ("__interrupt__" in ended || "__error__" in ended) throw new Error("the cycle did not end");
    latencies.push(performance.now() - startedAt);
  }
}

const startedAt = performance.now();
await Promise.all(Array.from({ length: Number(clients) }, client));
agent.destroy();
const sorted = latencies.toSorted((a, b) => a - b);
console.log(
  JSON.stringify({
    seconds: (performance.now() - startedAt) / 1000,
    medianMs: median(latencies),
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
  }),
);
