// Test of docs/reference/thread-protocol.md: the page names every event, and every member of its data.
//   thread-reference.1. What runs of all kinds show is on the page, in the row of its method or of its event.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { PATIENCE } from "../harness/patience.ts";
import { isEnd } from "../harness/protocol/thread-page.ts";
import { startServerHere } from "../harness/server-here.ts";
import { removeFolder, ROOT } from "../harness/server.ts";
import { openEvents, sendCommand } from "../harness/thread-protocol.ts";

const server = await startServerHere();
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

const ALL = {
  channels: ["values", "updates", "messages", "tools", "lifecycle", "input", "checkpoints", "tasks", "custom"],
};
const call = (id: string, name: string) => ({ id, name, args: { text: "x" } });
const RUNS: readonly (readonly [assistant: string, input: object])[] = [
  ["teller", { ask: true }],
  ["spoken", {}],
  ["extended", {}],
  ["tooled", { calls: [call("s", "search"), call("f", "fail")] }],
  ["timed", { payload: { question: "?", expires_in_seconds: 600 } }],
  ["schema", {}],
  ["throwing", {}],
];
/** The data of these methods is what the graph wrote. */
const FREE = ["values"];

test("every event and member is on the page (thread-reference.1)", PATIENCE, async () => {
  const members = new Map<string, Set<string>>();
  const note = (method: string, data: Readonly<Record<string, unknown>>): void => {
    const known = members.get(method) ?? new Set();
    members.set(method, known);
    if (!FREE.includes(method)) for (const name of Object.keys(data)) known.add(name);
    if (typeof data["event"] === "string") known.add(data["event"]);
  };
  for (const [assistant, input] of RUNS) {
    const threadId = randomUUID();
    const reader = await openEvents(server, threadId, ALL);
    await sendCommand(server, threadId, "run.start", { assistant_id: assistant, input });
    const events = await reader.until(isEnd);
    for (const { method, data } of events) note(method, data);
    const asked = events.find(({ method }) => method === "input.requested");
    if (asked !== undefined) {
      await sendCommand(server, threadId, "run.start", { assistant_id: "echo", input: { payload: 1 } });
      for (const { method, data } of await reader.until(isEnd)) note(method, data);
    }
    reader.close();
  }
  assert.equal(members.size, 10);
  const page = readFileSync(join(ROOT, "docs", "reference", "thread-protocol.md"), "utf8");
  const missing: string[] = [];
  for (const [method, names] of members) {
    const heads = [method, ...names].map((name) => `\`${name}\``);
    const rows = page.split("\n").filter((line) => heads.some((head) => line.split("|")[1]?.includes(head)));
    for (const name of names) if (!rows.some((row) => row.includes(`\`${name}\``))) missing.push(`${method}: ${name}`);
  }
  assert.deepEqual(missing, []);
});
