// Notify: the notification file and its adapters, chosen by the settings.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import type { TestMessage } from "@holdpoint/notify/test-messages.ts";
import type { NotifyParts } from "@holdpoint/notify/notify.ts";
import type { CreateNotify } from "@holdpoint/server/server/notify-service.ts";
import type { AgentConfig } from "@holdpoint/server/server/settings.ts";
import { describeError } from "@holdpoint/base/api-error.ts";
import { ConfigError } from "@holdpoint/base/config/config.ts";

type NotifyConfig = Pick<
  AgentConfig,
  "notifications" | "slackBotToken" | "slackSigningSecret" | "smtpUrl" | "linkSecret"
>;

/** Null without a file. @throws {ConfigError} with every problem of the file */
export async function chooseNotify(config: NotifyConfig): Promise<CreateNotify | null> {
  const parts = await openParts(config);
  if (parts === null) return null;
  const { createNotify } = await import("@holdpoint/notify/notify.ts");
  return (ports) => createNotify(parts, ports);
}

async function openParts(config: NotifyConfig): Promise<NotifyParts | null> {
  const { notifications: path, slackBotToken, slackSigningSecret, smtpUrl, linkSecret } = config;
  if (path === null) return null;
  const { parseNotifications } = await import("@holdpoint/notify/rules/notifications.ts");
  const has = { slackToken: slackBotToken !== null, smtp: smtpUrl !== null };
  const notifications = parseNotifications(readRulesText(path), has);
  if (!("rules" in notifications)) throw new ConfigError(notifications);
  const [slack, mailer] = await Promise.all([
    slackBotToken === null
      ? null
      : import("@holdpoint/notify/adapters/slack-web-api.ts").then((one) =>
          one.createSlackWebApi(slackBotToken, notifications.slack.api_url),
        ),
    smtpUrl === null
      ? null
      : import("@holdpoint/notify/adapters/smtp-mailer.ts").then((one) => one.createSmtpMailer(smtpUrl)),
  ]);
  return { notifications, slack, signingSecret: slackSigningSecret, mailer, linkSecret };
}

/** Sends a test message to the recipients of the rules. @throws {ConfigError}, {Error} without such a rule */
export async function testNotifications(
  config: NotifyConfig,
  rule: string | undefined,
): Promise<readonly TestMessage[]> {
  const parts = await openParts(config);
  if (parts === null)
    throw new ConfigError([{ name: "HOLDPOINT_NOTIFICATIONS", reason: "is not set; it names the rules" }]);
  const { sendTestMessages } = await import("@holdpoint/notify/test-messages.ts");
  return sendTestMessages(parts.notifications, { ...parts, newId: randomUUID }, rule);
}

/** @throws {ConfigError} */
function readRulesText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const reason = `cannot read ${path}: ${describeError(error).message}`;
    throw new ConfigError([{ name: "HOLDPOINT_NOTIFICATIONS", reason }]);
  }
}
