// Test messages: one message to each recipient that a rule names, without an event: for `holdpoint notify test`.
import type { Mailer, SlackApi, SlackOutcome } from "@holdpoint/server/ports/ports.ts";
import { createDirectory } from "./rules/directory.ts";
import type { NotificationRule, Notifications } from "./rules/notifications.ts";

export interface TestMessage {
  readonly rule: string;
  readonly channel: "slack" | "email";
  readonly to: string;
  readonly problem: string | null;
}

export interface TestPorts {
  readonly slack: SlackApi | null;
  readonly mailer: Mailer | null;
  readonly newId: () => string;
}

const TIMEOUT_MS = 15_000;
const TEXT = "This is a test message of Holdpoint. Questions that wait for you will come here.";

/** @param name of the rule; undefined for all @throws {Error} without such a rule */
export async function sendTestMessages(
  notifications: Notifications,
  ports: TestPorts,
  name: string | undefined,
): Promise<readonly TestMessage[]> {
  const rules = notifications.rules.filter((rule) => name === undefined || rule.name === name);
  if (rules.length === 0 && name !== undefined) throw new Error(`no rule has the name "${name}"`);
  const sent: TestMessage[] = [];
  for (const rule of rules) {
    for (const channel of ["slack", "email"] as const) {
      for (const to of listAddresses(notifications, rule, channel)) {
        const send = channel === "slack" ? toSlack(ports, to) : toMailbox(ports, notifications, to);
        sent.push({ rule: rule.name, channel, to, problem: await send });
      }
    }
  }
  return sent;
}

/** Recipients that are known without a question: no assignees, no roles, and of groups the listed people. */
function listAddresses(
  notifications: Notifications,
  rule: NotificationRule,
  channel: "slack" | "email",
): readonly string[] {
  const directory = createDirectory(notifications, null);
  const found = (rule[channel] ?? []).flatMap((name) => {
    const [kind, group] = name.split(":");
    if (name === "assignees" || kind === "role") return [];
    if (kind !== "group" && !name.includes("@")) return [name];
    const contacts = kind === "group" ? directory.listedIn(group ?? "") : [directory.byEmail(name)];
    return contacts.flatMap((one) => (channel === "slack" ? (one?.slack ?? one?.email) : one?.email) ?? []);
  });
  return [...new Set(found)];
}

async function toSlack({ slack }: TestPorts, to: string): Promise<string | null> {
  if (slack === null) return "SLACK_BOT_TOKEN is not set";
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  let channel = to;
  if (to.includes("@")) {
    const reply = await slack.call("users.lookupByEmail", { email: to }, signal);
    const user = reply.kind === "ok" ? (reply.body["user"] as { readonly id?: string } | undefined) : undefined;
    if (user?.id === undefined) return formatProblem(reply) ?? "Slack knows no member with this address";
    channel = user.id;
  }
  return formatProblem(await slack.call("chat.postMessage", { channel, text: TEXT }, signal));
}

function formatProblem(reply: SlackOutcome): string | null {
  if (reply.kind === "ok") return null;
  return reply.kind === "limited" ? `over the rate limit for ${Math.ceil(reply.afterMs / 1000)} seconds` : reply.reason;
}

async function toMailbox({ mailer, newId }: TestPorts, { email }: Notifications, to: string): Promise<string | null> {
  if (mailer === null || email === undefined) return "SMTP_URL is not set";
  const message = { subject: "Test message of Holdpoint", text: `${TEXT}\n`, html: `<p>${TEXT}</p>` };
  const mail = { from: email.from, to, messageId: `${newId()}@holdpoint`, ...message };
  const outcome = await mailer.send(mail, AbortSignal.timeout(TIMEOUT_MS));
  return outcome.kind === "sent" ? null : outcome.reason;
}
