// Many open requests: what the creation of one, a search and an answer cost beside one other and beside so many, and the
// largest payloads. `node bench/agent/requests.ts [COUNT]` prints one line of JSON; medians in milliseconds.
import { median } from "../measure.ts";
import { multiplyPausedThread } from "./many-paused.ts";
import { removeFolder, startServer, type MeasuredServer } from "./server.ts";

const COUNT = Number(process.argv[2] ?? 100_000);
const SAMPLES = 50;
const MIB = 1024 * 1024;

interface Reply {
  readonly status: number;
  readonly text: string;
}

async function send({ url }: MeasuredServer, path: string, body: object): Promise<Reply> {
  const headers = { "content-type": "application/json" };
  const reply = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await reply.text();
  if (reply.status >= 300 && reply.status !== 413) throw new Error(text);
  return { status: reply.status, text };
}

async function time(work: (at: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let at = 0; at < SAMPLES; at++) {
    const begin = performance.now();
    await work(at);
    times.push(performance.now() - begin);
  }
  return Number(median(times).toFixed(1));
}

async function measure(server: MeasuredServer): Promise<object> {
  const ids: string[] = [];
  const create = await time(async (at) => {
    const { text } = await send(server, "/requests", { payload: `Refund order ${at}?` });
    ids.push((JSON.parse(text) as { readonly request_id: string }).request_id);
  });
  const one = { status: "open", metadata: { customer: 7 }, limit: 10 };
  const newest = { status: "open", limit: 10 };
  return {
    create,
    search_one: await time(() => send(server, "/requests/search", one)),
    search_newest: await time(() => send(server, "/requests/search", newest)),
    answer: await time((at) => send(server, `/requests/${ids[at]}/answer`, { answer: "yes" })),
  };
}

async function measurePayload(server: MeasuredServer, bytes: number): Promise<object> {
  const begin = performance.now();
  const { status } = await send(server, "/requests", { payload: "x".repeat(bytes - 2) });
  return { bytes, status, ms: Math.round(performance.now() - begin) };
}

const first = await startServer();
await send(first, "/requests", { payload: "Refund order?", metadata: { shop: "a" } });
const early = await measure(first);
await first.stop();
multiplyPausedThread(first.folder, COUNT);
const server = await startServer(first.folder);
const late = await measure(server);
const payloads = [await measurePayload(server, 8 * MIB), await measurePayload(server, 8 * MIB + 1)];
console.log(JSON.stringify({ early, open: COUNT, late, payloads }));
await server.stop();
removeFolder(server.folder);
