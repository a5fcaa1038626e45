// Test of the code of "Retry calls" with the official client. Checked:
//   retry-guide.1. A call whose response is lost after its acceptance can be repeated: it gets the run's result, and
//   there is one run.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Client } from "@langchain/langgraph-sdk";
import { readExampleCode } from "../fixtures/how-to.ts";
import { writeFiles } from "../harness/project.ts";
import { removeFolder, ROOT } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";

const folder = mkdtempSync(join(ROOT, "test", ".work-retry-"));
const server = await startServerHere();
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
  rmSync(folder, { recursive: true, force: true });
});

type WithRetries = (key: string, options: object, call: (client: Client) => Promise<unknown>) => Promise<unknown>;

test("a call whose response is lost is repeated, and runs once (retry-guide.1)", async () => {
  writeFiles(folder, readExampleCode("retry.md"));
  const { withRetries } = (await import(pathToFileURL(join(folder, "retry.ts")).href)) as { withRetries: WithRetries };
  const plain = new Client({ apiUrl: server.url });
  const { thread_id: thread } = await plain.threads.create();
  let calls = 0;
  const lossy = async (input: string, init: RequestInit): Promise<Response> => {
    const response = await fetch(input, init);
    if (++calls > 1) return response;
    await response.text();
    throw new TypeError("fetch failed"); // after the server has done its part
  };
  const options = { apiUrl: server.url, callerOptions: { fetch: lossy } };
  const values = await withRetries(`key-${thread}`, options, (client) =>
    client.runs.wait(thread, "agent", { input: { messages: [] } }),
  );
  assert.equal(calls, 2);
  assert.ok(values);
  assert.equal((await plain.runs.list(thread)).length, 1);
});
