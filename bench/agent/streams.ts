// Benchmark of streams: the first event for one reader, and many events for many readers, each next to its limit.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { runScript } from "../measure.ts";
import { removeFolder, startServer, temporaryFolder, type MeasuredServer } from "./server.ts";
import type { Note } from "../table.ts";

const script = (name: string): string => join(import.meta.dirname, name);
const EVENTS = 10_000;
const READERS = 100;

export async function measureStreams(note: Note, short: boolean): Promise<void> {
  const server = await startServer();
  await measureFirstEvent(server, note, short);
  await measureFanOut(server, note);
  await server.stop();
  removeFolder(server.folder);
}

async function measureFirstEvent(server: MeasuredServer, note: Note, short: boolean): Promise<void> {
  const result = await runScript(script("first-event.ts"), [server.url, short ? 100 : 400]);
  const { okMs = Number.NaN, chunkMs = Number.NaN, firstMs = Number.NaN, toldMs = Number.NaN } = result;
  const limitMs = okMs + chunkMs;
  const parts = `${okMs.toFixed(2)} + ${chunkMs.toFixed(2)} ms`;
  note({
    what: "first event / (GET /ok + first chunk)",
    measured: `${firstMs.toFixed(2)} / ${parts}`,
    ratio: firstMs / limitMs,
    asked: "at most 3",
  });
  note({
    what: "first event of the graph / the same",
    measured: `${toldMs.toFixed(2)} / ${parts}`,
    ratio: toldMs / limitMs,
    asked: "at most 3",
  });
}

async function measureFanOut(server: MeasuredServer, note: Note): Promise<void> {
  const folder = temporaryFolder();
  const gate = join(folder, "gate");
  const { thread_id: thread } = await post(`${server.url}/threads`, {});
  const { run_id: run } = await post(`${server.url}/threads/${thread}/runs`, {
    assistant_id: "teller",
    input: { gate, events: EVENTS },
    stream_mode: "custom",
  });
  const stream = `${server.url}/threads/${thread}/runs/${run}/stream`;
  const served = await runScript(script("stream-readers.ts"), [stream, READERS, EVENTS, gate]);

  const body = join(folder, "body");
  writeFileSync(body, await (await fetch(stream)).text());
  const floor = spawn(process.execPath, [script("stream-floor.ts"), body], { stdio: ["ignore", "pipe", "inherit"] });
  const [port] = (await once(createInterface({ input: floor.stdout }), "line")) as [string];
  const url = `http://127.0.0.1:${port}/`;
  const bare = await runScript(script("stream-readers.ts"), [url, READERS, EVENTS, url]);
  floor.kill();
  removeFolder(folder);
  const rate = (result: Record<string, number>): number => (result["deliveries"] ?? 0) / (result["seconds"] ?? 0);
  note({
    what: `${EVENTS} events to ${READERS} readers (server / bare writer)`,
    measured: `${Math.round(rate(served) / 1000)} / ${Math.round(rate(bare) / 1000)} thousand a second`,
    ratio: rate(served) / rate(bare),
    asked: "at least 0.5",
  });
}

async function post(url: string, body: object): Promise<Record<string, string>> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  return (await response.json()) as Record<string, string>;
}
