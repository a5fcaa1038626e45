// Tests of e-mails and their one-use links, over a real SMTP server.
// Rules:
//   agent/notify-email.1. An e-mail has the question as text and HTML. No text of a graph is markup, a header or hidden.
//   agent/notify-email.2. A GET of a link decides nothing; its form answers as the person of the link.
//   agent/notify-email.3. A link works once, for its question, until its time; after that it says why not.
//   agent/notify-email.4. A mail server that fails or hangs delays its own e-mails only.
import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { writeToken } from "@holdpoint/notify/links/link-token.ts";
import { type Mailbox, type ReceivedMail, startMailbox } from "../fakes/mailbox.ts";
import { BOT_TOKEN, startFakeSlack } from "../fakes/slack/fake-slack.ts";
import { ok, type WireAudit } from "../harness/inbox.ts";
import { PATIENCE } from "../harness/patience.ts";
import { NotStarted, type ServerHere, startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, temporaryFolder } from "../harness/server.ts";
import { newThread, type TestThread } from "../harness/threads.ts";

const mailbox = await startMailbox();
const folder = temporaryFolder();
const dataDirs: string[] = [];
const SECRET = "a secret for the links of the tests";

function writeFile(name: string, content: object): string {
  const path = join(folder, `${name}.json`);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

const RULES = { name: "mail", graphs: ["echo"], email: ["ada@example.com", "group:finance"] };
const people = { grace: { email: "grace@example.com", groups: ["finance"] } };
const email = { from: "Holdpoint <holdpoint@example.com>" };

async function start(name: string, links: string | false, { url }: Pick<Mailbox, "url">): Promise<ServerHere> {
  const file = writeFile(name, { email: { ...email, links }, people, rules: [RULES] });
  const server = await startServerHere({
    env: {
      HOLDPOINT_NOTIFICATIONS: file,
      SMTP_URL: url,
      HOLDPOINT_LINK_SECRET: SECRET,
    },
    limits: { webhookRetryMs: 20, webhookAttemptsMax: 4 },
  });
  dataDirs.push(server.dataDir);
  return server;
}

const server = await start("mail", "1d", mailbox);
after(async () => {
  await server.stop();
  await mailbox.close();
  for (const path of [...dataDirs, folder]) removeFolder(path);
});

const APPROVAL = {
  action_requests: [{ name: "refund", args: { amount: 12.5 }, description: "Refund?" }],
  review_configs: [{ action_name: "refund", allowed_decisions: ["approve", "edit", "reject"] }],
};

interface Asked {
  readonly thread: TestThread;
  readonly mail: ReceivedMail;
  readonly link: string;
}

async function asked(payload: unknown = APPROVAL, on: ServerHere = server, to = "ada@example.com"): Promise<Asked> {
  const thread = await newThread(on, "echo");
  await thread.run({ input: { payload } });
  const mails = await mailbox.came(thread.threadId, 2);
  const mail = mails.find((one) => one.to.includes(to));
  assert.ok(mail !== undefined);
  return { thread, mail, link: /https?:\S+\/answer\/\S+/.exec(mail.text)?.[0] ?? "" };
}

async function page(
  link: string,
  form?: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(link, form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) });
  assert.match(response.headers.get("content-security-policy") ?? "", /default-src 'none'/);
  return { status: response.status, text: await response.text() };
}

async function lastAudit({ path }: TestThread): Promise<WireAudit | undefined> {
  const { items }: { readonly items: readonly WireAudit[] } = await ok(call(server, "GET", `${path}/audit`));
  return items.at(-1);
}

suite("contents (agent/notify-email.1)", PATIENCE, () => {
  test("every recipient gets an e-mail, with text, HTML and links", async () => {
    const { thread, mail } = await asked();
    assert.deepEqual([mail.to, mail.header("from")], [["ada@example.com"], "Holdpoint <holdpoint@example.com>"]);
    assert.deepEqual([mail.header("subject"), mail.header("auto-submitted")], ["refund: Refund?", "auto-generated"]);
    for (const part of [mail.text, mail.html]) {
      assert.ok(part.includes(`${server.url}/console/inbox/${thread.threadId}/`));
      assert.ok(part.includes("12.5"));
    }
    const other = (await mailbox.came(thread.threadId, 2)).find(({ to }) => to.includes("grace@example.com"));
    assert.notEqual(other?.header("message-id"), mail.header("message-id"));
  });

  test("a hostile question is text: no header, no markup, nothing hidden", async () => {
    const hostile = `Bcc: x\r\nBcc: evil@example.org\r\n\r\n<img src=//evil.example onerror=alert(1)> "abc\u202egnp.exe" \u200b`;
    const { mail } = await asked({ question: "Subject\r\nBcc: evil@example.org", text: hostile, action: hostile });
    assert.deepEqual(mail.to, ["ada@example.com"]);
    assert.equal(mail.header("bcc"), undefined);
    assert.ok(!mail.html.includes("<img"));
    assert.ok(mail.html.includes("&lt;img"));
    for (const part of [mail.text, mail.html]) {
      assert.ok(!/[\u202e\u200b]/.test(part));
      assert.ok(part.includes("\\u202e"));
    }
  });
});

suite("links (agent/notify-email.2)", PATIENCE, () => {
  test("a GET shows the question and decides nothing, however often scanners open it", async () => {
    const { thread, link } = await asked();
    const pages = await Promise.all(Array.from({ length: 5 }, () => page(link)));
    for (const { status, text } of pages) {
      assert.equal(status, 200);
      assert.match(text, /You answer as <strong>ada@example.com<\/strong>/);
      assert.match(text, /<form method="post">/);
    }
    assert.equal((await fetch(link, { method: "HEAD" })).status, 200);
    assert.equal((await thread.get()).status, "interrupted");
  });

  test("its form answers as the person, and the audit trail says by e-mail", async () => {
    const { thread, link } = await asked(APPROVAL, server, "grace@example.com");
    assert.match((await page(link, { choice: "reject", text: "too\r\nmuch" })).text, /Rejected/);
    await thread.reaches("idle");
    assert.deepEqual((await thread.get()).values?.["answer"], [
      { decisions: [{ type: "reject", message: "too\nmuch" }] },
    ]);
    const entry = await lastAudit(thread);
    assert.deepEqual([entry?.action, entry?.by, entry?.via], ["answered", "grace", "email"]);
  });

  test("its form says that a vote is counted, and how many are missing; the next one decides", async () => {
    const { thread, link } = await asked({ ...APPROVAL, review_rules: { approvals: 2 } });
    const counted = await page(link, { choice: "approve" });
    assert.equal(counted.status, 200);
    assert.match(counted.text, /Your vote is counted/);
    assert.match(counted.text, /1 of 2 approvals/);
    assert.ok(!counted.text.includes("Approved"));
    assert.equal((await thread.get()).status, "interrupted");
    const mails = await mailbox.came(thread.threadId, 2);
    const other = mails.find(({ to }) => to.includes("grace@example.com"))?.text ?? "";
    assert.match(
      (await page(/https?:\S+\/answer\/\S+/.exec(other)?.[0] ?? "", { choice: "approve" })).text,
      /Approved/,
    );
    await thread.reaches("idle");
    assert.deepEqual((await thread.get()).values?.["answer"], [{ decisions: [{ type: "approve" }] }]);
  });

  test("a text that is not JSON is refused, and the link still works", async () => {
    const { thread, link } = await asked();
    const refused = await page(link, { choice: "edit", text: "{" });
    assert.deepEqual([refused.status, /not JSON/.test(refused.text)], [422, true]);
    assert.equal((await page(link, { choice: "respond", text: "x" })).status, 422, "a decision that is not offered");
    assert.equal((await thread.get()).status, "interrupted");
    assert.equal((await page(link, { choice: "approve" })).status, 200);
    await thread.reaches("idle");
  });

  test("the page shows a hostile question as text", async () => {
    const { link } = await asked({ question: "<script>alert(1)</script>\u202e" });
    const { text } = await page(link);
    assert.ok(!text.includes("<script"));
    assert.ok(text.includes("\\u202e"));
  });
});

suite("the end of a link (agent/notify-email.3)", PATIENCE, () => {
  test("of many submissions one answers; then the link says that it was used", async () => {
    const { thread, link } = await asked();
    await Promise.all(Array.from({ length: 10 }, () => page(link, { choice: "approve" })));
    await thread.reaches("idle");
    const { items }: { readonly items: readonly WireAudit[] } = await ok(call(server, "GET", `${thread.path}/audit`));
    assert.equal(items.filter(({ action }) => action === "answered").length, 1);
    for (const form of [undefined, { choice: "reject" }]) {
      const { status, text } = await page(link, form);
      assert.deepEqual([status, /This link was used/.test(text)], [410, true]);
    }
  });

  test("a question that was answered elsewhere says by whom", async () => {
    const { thread, link } = await asked();
    await thread.resume({ decisions: [{ type: "approve" }] });
    const { status, text } = await page(link, { choice: "reject" });
    assert.deepEqual([status, /Approved by anonymous/.test(text)], [410, true]);
  });

  test("a link after its time says that it has expired", async () => {
    const { thread } = await asked();
    const [item] = await thread.open();
    const { threadId } = thread;
    const token = { threadId, interruptId: item?.id ?? "", person: "ada@example.com", expiresAt: Date.now() - 1 };
    const { status, text } = await page(`${server.url}/answer/${writeToken(token, SECRET)}`, { choice: "approve" });
    assert.deepEqual([status, /This link has expired/.test(text)], [410, true]);
    assert.equal((await thread.get()).status, "interrupted");
  });

  for (const [name, change] of [
    ["a changed member", (link: string) => link.replace(/answer\/(.{12})./, (_, start: string) => `answer/${start}_`)],
    ["a changed signature", (link: string) => `${link.slice(0, -2)}${link.endsWith("A") ? "BB" : "AA"}`],
    ["no signature", (link: string) => link.split(".").slice(0, -1).join(".")],
  ] as const)
    test(`a link with ${name} is not valid`, async () => {
      const { thread, link } = await asked();
      const { status } = await page(change(link), { choice: "approve" });
      assert.equal(status, 404);
      assert.equal((await thread.get()).status, "interrupted");
    });
});

suite("a mail server in trouble (agent/notify-email.4)", PATIENCE, () => {
  test("an e-mail is repeated after a passing refusal, under the same id", async () => {
    mailbox.refuse(2, 451);
    const { mail } = await asked();
    assert.match(mail.header("message-id") ?? "", /^<[\da-f-]{36}@localhost>$|^<[\da-f-]{36}@127\.0\.0\.1>$/);
  });

  test("a final refusal gives up at once", async () => {
    const before = given(server).length;
    mailbox.refuse(2, 550);
    const thread = await newThread(server, "echo");
    await thread.run({ input: { payload: APPROVAL } });
    const lines = await server.whenLogged("both are given up", () =>
      given(server).length >= before + 2 ? given(server) : undefined,
    );
    assert.deepEqual([lines.at(-1)?.["channel"], lines.at(-1)?.["attempts"]], ["email", 1]);
  });

  test("a mail server that never speaks delays no message to others", async (t) => {
    const silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const slack = await startFakeSlack([]);
    const { port } = silent.address() as AddressInfo;
    const rules = [{ ...RULES, slack: ["C0000000001"] }];
    const other = await startServerHere({
      env: {
        HOLDPOINT_NOTIFICATIONS: writeFile("silent", { slack: { api_url: slack.url }, email, people, rules }),
        SMTP_URL: `smtp://127.0.0.1:${port}`,
        SLACK_BOT_TOKEN: BOT_TOKEN,
      },
    });
    dataDirs.push(other.dataDir);
    const sockets: Socket[] = [];
    silent.on("connection", (socket) => void sockets.push(socket));
    t.after(async () => {
      for (const socket of sockets) socket.destroy();
      await other.stop();
      silent.close();
      await slack.close();
    });
    const connected = once(silent, "connection");
    for (const city of ["Berlin", "Tokyo", "Lima"]) {
      await (await newThread(other, "echo")).run({ input: { payload: city } });
      await slack.until(() => slack.messages.find(({ text }) => text.includes(city)));
    }
    await connected;
    assert.ok(
      sockets.every(({ destroyed }) => !destroyed),
      "the mail server still holds its connections",
    );
  });
});

function given({ logs }: ServerHere): readonly Record<string, unknown>[] {
  return logs.filter(({ event }) => event === "webhook_given_up");
}

suite("settings", PATIENCE, () => {
  test("every problem of the file stops the start, with its place", async () => {
    const file = writeFile("wrong", {
      rules: [
        { name: "a", graph: ["echo"], slack: ["somewhere"] },
        { name: "b", email: ["nobody"], digest: { every: "soon" }, quiet_hours: { from: "25:00", to: "08:00" } },
      ],
    });
    await assert.rejects(startServerHere({ env: { HOLDPOINT_NOTIFICATIONS: file } }), (error) => {
      assert.ok(error instanceof NotStarted);
      for (const place of [
        "rules[0]",
        "graph",
        "rules[0].slack[0]",
        "rules[1].email[0]",
        "rules[1].digest",
        "rules[1].quiet_hours.from",
      ])
        assert.ok(error.message.includes(place), `${place} in ${error.message}`);
      return true;
    });
  });
  test("a rule without the credentials of its channel stops the start", async () => {
    const file = writeFile("bare", { rules: [{ name: "a", slack: ["C0000000001"], email: ["ada@example.com"] }] });
    await assert.rejects(
      startServerHere({ env: { HOLDPOINT_NOTIFICATIONS: file } }),
      /SLACK_BOT_TOKEN[^]*SMTP_URL[^]*email\.from/,
    );
  });
});
