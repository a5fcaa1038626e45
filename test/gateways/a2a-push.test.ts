// Push notifications of A2A, over real sockets. Checked:
//   a2a-push.1. Every end and pause of a task sends its state to the configured address, signed, with the credentials
//     of the receiver, in the version of the client; whoever answered.
//   a2a-push.2. Configs are listed, read and deleted, without credentials, also after a restart.
//   a2a-push.3. A forbidden address is refused.
//   a2a-push.4. An answer under review rules brings no other config, and a refused answer leaves none.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { after, test } from "node:test";
import type { Task, TaskPushNotificationConfig } from "@a2a-js/sdk";
import { legacyPushNotificationToV1StreamResponse } from "@a2a-js/sdk/compat/v0_3";
import { type ReceivedWebhook, startWebhookReceiver } from "../fakes/webhook-receiver.ts";
import { answerTo, connect, data, message, questions, send, sending, text, VERSIONS } from "./a2a-client.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, temporaryFolder, TEST_GRAPHS } from "../harness/server.ts";

const folder = temporaryFolder();
const file = JSON.parse(readFileSync(TEST_GRAPHS, "utf8")) as { readonly graphs: Readonly<Record<string, string>> };
const graphs = Object.fromEntries(
  Object.entries(file.graphs).map(([id, path]) => [id, isAbsolute(path) ? path : join(dirname(TEST_GRAPHS), path)]),
);
const config = join(folder, "push.json");
const url = { require_https: false, allowed_networks: ["127.0.0.1"] };
writeFileSync(config, JSON.stringify({ graphs, webhooks: { url } }));
const env = { HOLDPOINT_WEBHOOK_SECRET: "whsec_dGhlIHNlY3JldCBvZiB0aGUgdGVzdHM=" };
const receiver = await startWebhookReceiver();
let server = await startServerHere({ config, env });
after(async () => {
  await server.stop();
  await receiver.close();
  removeFolder(server.dataDir);
  removeFolder(folder);
});

const QUESTION = [data({ payload: "How many?" })];

function pushTo(path: string, more: Partial<TaskPushNotificationConfig> = {}): TaskPushNotificationConfig {
  const authentication = { scheme: "Bearer", credentials: "of the receiver" };
  return { tenant: "", id: "", taskId: "", url: `${receiver.url}${path}`, token: "t-1", authentication, ...more };
}

/** The state in an event, and its task; checks signature and credentials. */
function read({ event, headers }: ReceivedWebhook, version: string): readonly [taskId: string, state: unknown] {
  assert.match(String(headers["webhook-signature"]), /^v1,/);
  assert.equal(headers["authorization"], "Bearer of the receiver");
  assert.equal(headers["x-a2a-notification-token"], "t-1");
  if (version === "0.3") {
    const { payload } = legacyPushNotificationToV1StreamResponse(event);
    assert.equal(payload?.$case, "task");
    return [payload.value.id, (event["status"] as unknown as { readonly state: string }).state];
  }
  const { taskId, status } = event["statusUpdate"] as { taskId: string; status: { state: string } };
  return [taskId, status.state.replace("TASK_STATE_", "").replace("_", "-").toLowerCase()];
}

for (const version of VERSIONS) {
  test(`version ${version}: a config of a message hears the pause and the end, whoever answers (a2a-push.1)`, async () => {
    const client = await connect("echo", version, server);
    const path = `/message-${version}`;
    const paused = (await client.sendMessage(sending(message(QUESTION), pushTo(path)))) as Task;
    await receiver.came(path);
    const [asked] = questions(paused);
    await call(server, "POST", "/inbox/answers", [
      { thread_id: paused.contextId, interrupt_id: asked?.interrupt_id, resume: "3" },
    ]);
    const events = await receiver.came(path, 2);
    assert.deepEqual(
      events.map((event) => read(event, version)),
      [
        [paused.id, "input-required"],
        [paused.id, "completed"],
      ],
    );
    assert.equal(new Set(events.map(({ headers }) => headers["webhook-id"])).size, 2);
  });

  test(`version ${version}: an answer under review rules brings no other config (a2a-push.4)`, async () => {
    const client = await connect("echo", version, server);
    const path = `/reviewed-${version}`;
    const asked = [data({ payload: { question: "Pay?", review_rules: { assignees: ["anonymous"] } } })];
    const paused = (await client.sendMessage(sending(message(asked), pushTo(path)))) as Task;
    await receiver.came(path);
    const answer = () => message([text("yes")], answerTo(paused));
    await assert.rejects(client.sendMessage(sending(answer(), pushTo("/other"))), /invalid_request/);
    await client.sendMessage(sending(answer(), pushTo(path)));
    assert.equal((await receiver.came(path, 2)).length, 2);
    assert.ok(receiver.received.every(({ path: at }) => at !== "/other"));
  });

  test(`version ${version}: a refused answer leaves no config (a2a-push.4)`, async () => {
    const client = await connect("echo", version, server);
    const asked = [data({ payload: { question: "Sure?", response_schema: { type: "boolean" } } })];
    const paused = (await client.sendMessage(sending(message(asked)))) as Task;
    const [question] = questions(paused);
    const wrong = [data({ interrupt_id: question?.interrupt_id, resume: "maybe" })];
    await client.sendMessage(sending(message(wrong, answerTo(paused)), pushTo("/refused")));
    const { configs } = await client.listTaskPushNotificationConfig({
      tenant: "",
      taskId: paused.id,
      pageSize: 10,
      pageToken: "",
    });
    assert.deepEqual(configs, []);
  });

  test(`version ${version}: a config added later is listed, survives a restart, and is deleted (a2a-push.2)`, async () => {
    let client = await connect("echo", version, server);
    const paused = await send(client, QUESTION);
    const [kept, removed] = [`/kept-${version}`, `/removed-${version}`];
    const ids: string[] = [];
    for (const path of [kept, removed]) {
      const created = await client.createTaskPushNotificationConfig(pushTo(path, { taskId: paused.id }));
      ids.push(created.id);
    }
    const { dataDir } = server;
    await server.stop();
    server = await startServerHere({ config, env, dataDir });
    client = await connect("echo", version, server);
    const all = await client.listTaskPushNotificationConfig({
      tenant: "",
      taskId: paused.id,
      pageSize: 0,
      pageToken: "",
    });
    assert.deepEqual(all.configs.map(({ id }) => id).toSorted(), ids.toSorted());
    assert.ok(all.configs.every(({ token, authentication }) => token === "" && authentication === undefined));
    const name = { tenant: "", taskId: paused.id, id: ids[1] ?? "" };
    assert.equal((await client.getTaskPushNotificationConfig(name)).url, `${receiver.url}${removed}`);
    await client.deleteTaskPushNotificationConfig(name);
    await assert.rejects(client.getTaskPushNotificationConfig(name), /no push notification config/);
    await send(client, [text("3")], answerTo(paused));
    const [event] = await receiver.came(kept);
    assert.deepEqual(event && read(event, version), [paused.id, "completed"]);
    assert.ok(receiver.received.every(({ path }) => path !== removed));
  });
}

test("a task that fails sends its state, also if its first run did not pause (a2a-push.1)", async () => {
  const failing = await connect("failing", "1.0", server);
  await failing.sendMessage(sending(message([data({ notes: "" })]), pushTo("/failed")));
  const [event] = await receiver.came("/failed");
  assert.equal(event && read(event, "1.0")[1], "failed");
});

test("a forbidden address is refused, and starts nothing (a2a-push.3)", async () => {
  const client = await connect("echo", "1.0", server);
  const push = pushTo("", { url: "http://169.254.169.254/latest" });
  await assert.rejects(client.sendMessage(sending(message(QUESTION), push)), /webhook_refused/);
  const paused = await send(client, QUESTION);
  await assert.rejects(client.createTaskPushNotificationConfig({ ...push, taskId: paused.id }), /webhook_refused/);
});
