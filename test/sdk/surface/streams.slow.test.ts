// The handle of a thread, `client.threads.stream()`: each member of it, and each option of its commands, has a row that
// is checked over a real socket.
import { Client } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { PATIENCE } from "../../harness/patience.ts";
import { startServerHere } from "../../harness/server-here.ts";
import { removeFolder } from "../../harness/server.ts";
import { readStreamSurface } from "./read-surface.ts";
import { STREAM_ROWS } from "./streams.ts";

const server = await startServerHere();
const client = new Client({ apiUrl: server.url, apiKey: null, callerOptions: { maxRetries: 0 } });
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

suite("the handle of a thread of the official client", PATIENCE, () => {
  test("every member and option has one row, and every row is one of them", async () => {
    assert.deepEqual(STREAM_ROWS.map(([name]) => name).toSorted(), await readStreamSurface());
  });

  for (const [name, { how, check }] of STREAM_ROWS) {
    if (check !== null) test(`${name}: ${how}`, () => check({ client }));
  }
});
