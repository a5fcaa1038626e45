// Many open requests: what the creation of one, a search and an answer cost beside so many others, and the largest
// payloads. `node bench/agent/requests.ts [COUNT]` prints one line of JSON.
import { median } from "../measure.ts";
import { removeFolder, startServer } from "./server.ts";

const COUNT = Number(process.argv[2] ?? 100_000);
const AT_ONCE = 64;
const SAMPLES = 50;
const MIB = 1024 * 1024;

const server = await startServer();

async function send(
  method: string,
  path: string,
  body?: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const headers = { "content-type": "application/json" };
  const reply = await fetch(`${server.url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
  return { status: reply.status, text: await reply.text() };
}

/** Median in milliseconds, one call after the other. */
async function time(work: (at: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let at = 0; at < SAMPLES; at++) {
    const begin = performance.now();
    await work(at);
    times.push(performance.now() - begin);
  }
  return Number(median(times).toFixed(1));
}

const ids: string[] = [];

async function ask(at: number): Promise<void> {
  const body = JSON.stringify({ payload: `Refund order ${at}?`, metadata: { shop: `shop ${at % 1000}` } });
  const { status, text } = await send("POST", "/requests", body);
  if (status !== 201) throw new Error(text);
  ids.push((JSON.parse(text) as { readonly request_id: string }).request_id);
}

async function fill(count: number): Promise<void> {
  let next = ids.length;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < count) await ask(next++);
    }),
  );
}

async function measure(): Promise<object> {
  const open = ids.length;
  const create = await time((at) => ask(open + at));
  const search = JSON.stringify({ status: "open", metadata: { shop: "shop 7" }, limit: 10 });
  const answer = JSON.stringify({ answer: "yes" });
  return {
    open,
    create_ms: create,
    search_ms: await time(() => send("POST", "/requests/search", search)),
    answer_ms: await time((at) => send("POST", `/requests/${ids[open - 1 - at]}/answer`, answer)),
  };
}

async function measurePayload(bytes: number): Promise<object> {
  const begin = performance.now();
  const { status } = await send("POST", "/requests", JSON.stringify({ payload: "x".repeat(bytes - '""'.length) }));
  return { bytes, status, ms: Math.round(performance.now() - begin) };
}

await fill(1000);
const early = await measure();
const begin = performance.now();
await fill(COUNT);
const perSecond = Math.round(COUNT / ((performance.now() - begin) / 1000));
const late = await measure();
const payloads = [await measurePayload(8 * MIB), await measurePayload(8 * MIB + 1)];
console.log(JSON.stringify({ early, late, created_per_second: perSecond, payloads }));
await server.stop();
removeFolder(server.folder);
