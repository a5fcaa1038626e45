// Test of `holdpoint notify test`, against a fake Slack and a real SMTP server.
// Rule cli-notify.1: every known recipient gets one test message; the outcome of each is shown, and a failure is exit 1.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { startMailbox } from "../fakes/mailbox.ts";
import { BOT_TOKEN, startFakeSlack } from "../fakes/slack/fake-slack.ts";
import { holdpoint } from "../harness/cli.ts";
import { PATIENCE } from "../harness/patience.ts";
import { removeFolder, temporaryFolder } from "../harness/server.ts";

const [slack, mailbox, folder] = [
  await startFakeSlack([{ id: "U0000000ADA", email: "ada@example.com" }]),
  await startMailbox(),
  temporaryFolder(),
];
after(async () => {
  await Promise.all([slack.close(), mailbox.close()]);
  removeFolder(folder);
});
const file = join(folder, "notifications.json");
const rules = [
  { name: "one", slack: ["C0000000001", "ada@example.com", "assignees"], email: ["group:finance"] },
  { name: "two", slack: ["nobody@example.com"] },
];
const people = { grace: { email: "grace@example.com", groups: ["finance"] } };
writeFileSync(
  file,
  JSON.stringify({ slack: { api_url: slack.url }, email: { from: "holdpoint@example.com" }, people, rules }),
);
const env = {
  HOLDPOINT_NOTIFICATIONS: file,
  SLACK_BOT_TOKEN: BOT_TOKEN,
  SMTP_URL: mailbox.url,
};

test("each recipient of a rule gets a test message (cli-notify.1)", PATIENCE, async () => {
  const { code, out } = await holdpoint(["notify", "test", "--rule", "one"], { env });
  assert.equal(
    out,
    "ok    one: slack to C0000000001\nok    one: slack to ada@example.com\nok    one: email to grace@example.com\n",
  );
  assert.equal(code, 0);
  assert.deepEqual(
    slack.messages.map(({ channel }) => channel),
    ["C0000000001", "D0000000ADA"],
  );
  assert.deepEqual(
    mailbox.mails.map(({ to }) => to),
    [["grace@example.com"]],
  );
});

test("a recipient who is not found is a failure, also in JSON (cli-notify.1)", PATIENCE, async () => {
  const { code, out } = await holdpoint(["notify", "test", "--rule", "two", "--json"], { env });
  const { ok, messages } = JSON.parse(out) as {
    readonly ok: boolean;
    readonly messages: readonly { readonly problem: string }[];
  };
  assert.deepEqual([code, ok, messages.map(({ problem }) => problem)], [1, false, ["users_not_found"]]);
});

test("a wrong file is named with its problems (cli-notify.1)", PATIENCE, async () => {
  const { code, err } = await holdpoint(["notify", "test"], { env: {} });
  assert.notEqual(code, 0);
  assert.match(err, /HOLDPOINT_NOTIFICATIONS: is not set/);
});
