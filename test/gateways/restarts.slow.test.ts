// Tests of the gateways over kill -9 and a new start, with the official clients. Checked, as in the files of these names:
//   a2a.7, mcp.7, mcp-ask.2.
import assert from "node:assert/strict";
import { test } from "node:test";
import { TaskState } from "@a2a-js/sdk";
import { call, removeFolder, startServer } from "../harness/server.ts";
import { answerTo, connect, data, get, send, readState, text, values } from "./a2a-client.ts";
import { accept, legacy, modern } from "./mcp-client.ts";

test("a kill between question and answer loses neither, and the history is the same (a2a.7)", async () => {
  let running = await startServer({});
  const { dataDir } = running;
  try {
    const paused = await send(await connect("echo", "1.0", running), [data({ payload: "How many?" })]);
    await running.kill();
    running = await startServer({ dataDir });
    const client = await connect("echo", "1.0", running);
    const same = await get(client, paused);
    assert.deepEqual([same.history, readState(same)], [paused.history, TaskState.TASK_STATE_INPUT_REQUIRED]);
    const ended = await send(client, [text("8")], answerTo(paused));
    assert.deepEqual(values(ended)["answer"], ["8"]);
    await running.kill();
    running = await startServer({ dataDir });
    assert.deepEqual(await get(await connect("echo", "1.0", running), paused), ended);
  } finally {
    await running.stop();
    removeFolder(dataDir);
  }
});

test("a kill between question and answer loses neither (mcp.7)", async () => {
  let running = await startServer({});
  const { dataDir } = running;
  try {
    const meta = { idempotency_key: "killed" };
    const first = await modern(null, running);
    const paused = await first.run("echo", { payload: "How many?" }, meta);
    await running.kill();
    running = await startServer({ dataDir });
    const second = await legacy(() => accept({ answer: "8" }), running);
    const ended = await second.run("echo", { payload: "How many?" }, meta);
    assert.equal(ended.structuredContent?.thread_id, paused.structuredContent?.thread_id);
    assert.deepEqual(ended.structuredContent?.values?.["answer"], ["8"]);
    await second.close();
  } finally {
    await running.stop();
    removeFolder(dataDir);
  }
});

test("a kill while a tool waits for a person loses neither the question nor its answer (mcp-ask.2)", async () => {
  let running = await startServer({});
  const { dataDir } = running;
  const args = { question: "Which region?" };
  try {
    const lost = (await modern(null, running)).run("ask_human", args).catch(() => null);
    let id: string | undefined;
    while (id === undefined) {
      const { body } = await call(running, "POST", "/requests/search", { status: "open" });
      id = (body as { readonly items: readonly { readonly request_id: string }[] }).items[0]?.request_id;
    }
    await running.kill();
    await lost;
    running = await startServer({ dataDir });
    const second = await modern(null, running);
    const asking = second.run("ask_human", args);
    assert.equal((await call(running, "POST", `/requests/${id}/answer`, { answer: "eu" })).status, 200);
    const { content, structuredContent } = await asking;
    assert.deepEqual([content[0]?.text, structuredContent?.["request_id"]], ["eu", id]);
    await second.close();
  } finally {
    await running.stop();
    removeFolder(dataDir);
  }
});
