// Tests of streams with the official client: what a run tells while it runs, how it tells a pause, and its end.
import { Client } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { removeFolder, startServer } from "./harness/server.ts";

const PATIENCE = { timeout: 20_000 };
const server = await startServer();
const client = new Client({ apiUrl: server.url, apiKey: null });
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

test(
  "a run is read as it runs: metadata first, ids from 0, and the pause with the state and its question",
  PATIENCE,
  async () => {
    const { thread_id: id } = await client.threads.create();
    const events: { readonly id?: string; readonly event: string; readonly data: unknown }[] = [];
    const input = { some_text: "original" };
    for await (const event of client.runs.stream(id, "agent", { input, streamMode: ["values", "updates"] })) {
      events.push(event);
    }
    assert.deepEqual(
      events.map((event) => [event.id, event.event]),
      [
        ["0", "metadata"],
        ["1", "values"],
        ["2", "updates"],
        ["3", "values"],
      ],
    );
    const thread = await client.threads.get(id);
    const [question] = Object.values(thread.interrupts).flat();
    assert.deepEqual(events[2]?.data, { __interrupt__: [question] });
    assert.deepEqual(events[3]?.data, { some_text: "original", __interrupt__: [question] });
  },
);
