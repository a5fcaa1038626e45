// Test of the gateways over kill -9 and a new start, with the official clients. Checked, as in the files of these names:
//   a2a.7, mcp.7, mcp-ask.2.
import assert from "node:assert/strict";
import { test } from "node:test";
import { TaskState } from "@a2a-js/sdk";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, startServer } from "../harness/server.ts";
import { answerTo, connect, data, get, send, readState, text, values } from "./a2a-client.ts";
import { accept, legacy, modern } from "./mcp-client.ts";

const TOOL = { question: "Which region?" };
const META = { idempotency_key: "killed" };
const PAYLOAD = { payload: "How many?" };

interface Requests {
  readonly items: readonly { readonly request_id: string }[];
}

test("kills lose no question, no answer and no history of a gateway (a2a.7, mcp.7, mcp-ask.2)", async (t) => {
  const first = await startServer();
  const { dataDir } = first;
  t.after(() => removeFolder(dataDir));
  t.after(() => first.kill());
  const task = await send(await connect("echo", "1.0", first), [data(PAYLOAD)]);
  const caller = await modern(null, first);
  const run = await caller.run("echo", PAYLOAD, META);
  const lost = caller.run("ask_human", TOOL).catch(() => null);
  let request: string | undefined;
  while (request === undefined) {
    const { body } = await call(first, "POST", "/requests/search", { status: "open" });
    request = (body as Requests).items[0]?.request_id;
  }
  await first.kill();
  assert.equal(await lost, null);

  const second = await startServer({ dataDir });
  t.after(() => second.kill());
  const client = await connect("echo", "1.0", second);
  const same = await get(client, task);
  assert.deepEqual([same.history, readState(same)], [task.history, TaskState.TASK_STATE_INPUT_REQUIRED]);
  const ended = await send(client, [text("8")], answerTo(task));
  assert.deepEqual(values(ended)["answer"], ["8"]);

  const asked = await legacy(() => accept({ answer: "9" }), second);
  const { structuredContent: result } = await asked.run("echo", PAYLOAD, META);
  assert.deepEqual(
    [result?.thread_id, result?.values?.["answer"]],
    [run.structuredContent?.thread_id, ["9"]],
    "the same run ends with this answer",
  );
  await asked.close();

  const again = await modern(null, second);
  const asking = again.run("ask_human", TOOL);
  assert.equal((await call(second, "POST", `/requests/${request}/answer`, { answer: "eu" })).status, 200);
  const { content, structuredContent } = await asking;
  assert.deepEqual([content[0]?.text, structuredContent?.["request_id"]], ["eu", request]);
  await again.close();
  await second.kill();

  const third = await startServerHere({ dataDir });
  t.after(() => third.stop());
  assert.deepEqual(await get(await connect("echo", "1.0", third), task), ended);
});
