// Tests of a process that dies between a message to Slack and its record.
// Rules:
//   agent-notify-kill.1. The message is sent again after the restart; a click on either message answers, and only once.
//   agent-notify-kill.2. Both messages show the end of the question, also the one whose record is missing, after a click
//     on it; an end that happened before the death shows after the restart.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { BOT_TOKEN, SIGNING_SECRET, startFakeSlack, type PostedMessage } from "../fakes/slack/fake-slack.ts";
import { ok, type WireAudit } from "../harness/inbox.ts";
import { PATIENCE } from "../harness/patience.ts";
import { call, removeFolder, startServer, temporaryFolder, type TestServer } from "../harness/server.ts";
import { newThread, openThread } from "../harness/threads.ts";

const ADA = "U0000000ADA";
const slack = await startFakeSlack([{ id: ADA, email: "ada@example.com" }]);
const [folder, dataDir] = [temporaryFolder(), temporaryFolder()];
const file = join(folder, "notifications.json");
writeFileSync(
  file,
  JSON.stringify({ slack: { api_url: slack.url }, rules: [{ name: "all", slack: ["C0000000001"] }] }),
);
const env = {
  HOLDPOINT_NOTIFICATIONS: file,
  SLACK_BOT_TOKEN: BOT_TOKEN,
  SLACK_SIGNING_SECRET: SIGNING_SECRET,
};
let server: TestServer = await startServer({ dataDir, env });
after(async () => {
  await server.stop();
  await slack.close();
  for (const path of [folder, dataDir]) removeFolder(path);
});

const APPROVAL = {
  action_requests: [{ name: "refund", args: {} }],
  review_configs: [{ action_name: "refund", allowed_decisions: ["approve", "reject"] }],
};

const about = (id: string): readonly PostedMessage[] =>
  slack.messages.filter(({ blocks }) => JSON.stringify(blocks).includes(id));
const shows = (message: PostedMessage | undefined, text: string): Promise<unknown> =>
  slack.until(() => (JSON.stringify(message?.blocks).includes(text) ? true : undefined));

test(
  "a message without a record is sent again, and the question takes one answer (agent-notify-kill.1)",
  PATIENCE,
  async () => {
    slack.swallow("chat.postMessage", 1);
    const { threadId } = await asked();
    const id = threadId;
    await slack.until(() => about(id)[0]);
    await server.kill();
    server = await startServer({ dataDir, env });
    const second = await slack.until(() => about(id)[1]);
    const first = about(id)[0];
    assert.ok(first !== undefined);
    await slack.click(server.url, first, "approve", ADA);
    await slack.click(server.url, second, "approve", ADA);
    const thread = openThread(server, "echo", threadId);
    await thread.reaches("idle");
    const { items }: { readonly items: readonly WireAudit[] } = await ok(call(server, "GET", `${thread.path}/audit`));
    assert.equal(items.filter(({ action }) => action === "answered").length, 1);
    for (const message of [first, second]) await shows(message, "Approved by ada@example.com."); // agent-notify-kill.2
  },
);

test("an end before the death of the process shows after the restart (agent-notify-kill.2)", PATIENCE, async () => {
  const thread = await asked();
  const message = await slack.until(() => about(thread.threadId)[0]);
  slack.swallow("chat.update", 1);
  await thread.resume({ decisions: [{ type: "reject" }] });
  await slack.until(() => (message.updates > 0 ? true : undefined));
  await server.kill();
  server = await startServer({ dataDir, env });
  await slack.until(() => (message.updates > 1 ? true : undefined));
  await shows(message, "Rejected by anonymous.");
  assert.deepEqual(slack.broken, []);
});

async function asked() {
  const thread = await newThread(server, "echo");
  await thread.run({ input: { payload: APPROVAL } });
  return thread;
}
