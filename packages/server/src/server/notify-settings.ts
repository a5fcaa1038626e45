// Settings of notifications: the rules, and the credentials of Slack and of the mail server.
import { setting, ShownReason, text, type Setting } from "@holdpoint/base/config/config.ts";

const SECRET_UNITS_MIN = 32;

function smtpAddress(name: string): Setting<string | null> {
  const meaning =
    "Mail server, as smtp://user:password@host:587 (STARTTLS) or smtps://user:password@host:465. With a password the connection has to be encrypted, unless `?requireTLS=false` follows.";
  const kind = { type: "address", fallback: null, limits: "smtp: or smtps:" };
  return setting<string | null>(name, kind, { meaning, secret: true }, (value) => {
    if (URL.canParse(value) && /^smtps?:$/.test(new URL(value).protocol) && new URL(value).hostname !== "")
      return value;
    throw new ShownReason("is not of the form smtp://user:password@host:587 (not shown)");
  });
}

function linkSecret(name: string): Setting<string | null> {
  const meaning = `Signs the one-use links of e-mails: at least ${SECRET_UNITS_MIN} random characters. Without it, e-mails link to the console only.`;
  const kind = { type: "text", fallback: null, limits: `at least ${SECRET_UNITS_MIN} characters` };
  return setting<string | null>(name, kind, { meaning, secret: true }, (value) => {
    if (value.length >= SECRET_UNITS_MIN) return value;
    throw new ShownReason(`has fewer than ${SECRET_UNITS_MIN} characters (not shown)`);
  });
}

export const NOTIFY_SETTINGS = {
  notifications: text("HOLDPOINT_NOTIFICATIONS", null, {
    meaning: "JSON file with the rules that notify people by Slack and e-mail.",
  }),
  slackBotToken: text("SLACK_BOT_TOKEN", null, {
    meaning: "Token of the Slack app (xoxb-…) that posts the messages.",
    secret: true,
  }),
  slackSigningSecret: text("SLACK_SIGNING_SECRET", null, {
    meaning: "Signing secret of the Slack app. Without it, messages have a link to the console in place of buttons.",
    secret: true,
  }),
  smtpUrl: smtpAddress("SMTP_URL"),
  linkSecret: linkSecret("HOLDPOINT_LINK_SECRET"),
} as const;
