// Tests of a stateless run's stream: its own reader gets all of it, however slowly it reads, although the thread is
// deleted with the run.
import assert from "node:assert/strict";
import { type IncomingMessage, request } from "node:http";
import { once } from "node:events";
import { after, test } from "node:test";
import { startServerHere } from "../harness/server-here.ts";
import { removeFolder } from "../harness/server.ts";
import { PATIENCE } from "../harness/patience.ts";

const EVENTS = 20_000;

const server = await startServerHere();
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

test("a reader that stops reading until the run has ended gets every event and the end", PATIENCE, async () => {
  const { hostname, port } = new URL(server.url);
  const outgoing = request({
    hostname,
    port,
    path: "/runs/stream",
    method: "POST",
    headers: { "Content-Type": "application/json" },
  });
  outgoing.end(JSON.stringify({ assistant_id: "flood", input: { count: EVENTS }, stream_mode: ["custom"] }));
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  incoming.pause();
  const runId = /runs\/([0-9a-f-]{36})/.exec(String(incoming.headers["content-location"]))?.[1] ?? "";
  const joined = await fetch(`${server.url}/runs/${runId}/join`); // until the run has ended
  await joined.text();
  let text = "";
  for await (const chunk of incoming.setEncoding("utf8")) text += chunk as string;
  const seen = [...text.matchAll(/"at":(\d+)/g)].map(([, at]) => Number(at));
  assert.equal(seen.length, EVENTS);
  assert.ok(seen.every((at, index) => at === index));
  assert.doesNotMatch(text, /event: error/);
});
