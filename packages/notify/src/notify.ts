// Notify: notifications by rules, assembled: the channels of the outbox, the routes of answers from outside the console,
// and the watch over messages in Slack.
// The way of an event: the transaction that asks stores a notice row (webhooks/notice-row.ts) → fan-out by the rules →
// one outbox row a recipient → Slack or e-mail → an answer through the inbox → the end of the item → the update of its
// messages.
import type { Interrupt } from "@holdpoint/server/model/model.ts";
import type { Mailer, SlackApi } from "@holdpoint/server/ports/ports.ts";
import type { Notify, NotifyPorts } from "@holdpoint/server/server/notify-service.ts";
import { createEmailChannel } from "./email/email-channel.ts";
import { createFanOut } from "./fan-out.ts";
import { createAnswerAddresses } from "./links/addresses.ts";
import { linkRoutes } from "./links/link-routes.ts";
import { createDirectory } from "./rules/directory.ts";
import { parseDurationMs, type Notifications } from "./rules/notifications.ts";
import { slackRoute } from "./slack/interactions.ts";
import { createMembers } from "./slack/members.ts";
import { createNoticeWatch } from "./slack/notice-watch.ts";
import { createSlackChannel } from "./slack/slack-channel.ts";

/** The rules, and the services that the process has credentials for. */
export interface NotifyParts {
  readonly notifications: Notifications;
  readonly slack: SlackApi | null;
  /** Null: Slack takes no answers. */
  readonly signingSecret: string | null;
  readonly mailer: Mailer | null;
  /** Null: no one-use links. */
  readonly linkSecret: string | null;
}

export function createNotify(parts: NotifyParts, ports: NotifyPorts): Notify {
  const { notifications, slack, signingSecret, mailer } = parts;
  const { storage, clock, log, publicUrl, wakeOutbox, roleRules } = ports;
  const directory = createDirectory(notifications, roleRules);
  const buildLink = ({ threadId, interruptId }: Pick<Interrupt, "threadId" | "interruptId">): string =>
    `${publicUrl()}/console/inbox/${threadId}/${interruptId}`;
  const members = slack === null ? null : createMembers(notifications.slack, { slack, directory, clock });
  const answers = signingSecret !== null && notifications.slack.answers !== "none";
  const links = chooseLinks(parts);
  const hosts = {
    ...(slack === null ? {} : { slack: slack.host }),
    ...(mailer === null ? {} : { email: mailer.host }),
  };
  return {
    channels: {
      notice: createFanOut(notifications, directory, { storage, clock, hosts }),
      ...(slack === null || members === null
        ? {}
        : { slack: createSlackChannel({ storage, slack, members, directory, clock, buildLink, answers }) }),
      ...(mailer === null || notifications.email === undefined
        ? {}
        : {
            email: createEmailChannel({
              storage,
              mailer,
              clock,
              buildLink,
              publicUrl,
              from: notifications.email.from,
              links,
            }),
          }),
    },
    addresses:
      links === null
        ? null
        : createAnswerAddresses({ directory, secret: links.secret, forMs: links.forMs, publicUrl, clock }),
    routes: (agent) => [
      ...(slack === null || members === null || signingSecret === null || !answers
        ? []
        : [slackRoute({ agent, slack, members, signingSecret })]),
      ...(links === null ? [] : linkRoutes({ agent, directory, secret: links.secret, buildLink })),
    ],
    stillNames: (name, item) => directory.stillNames(name, item),
    watch: slack === null ? null : createNoticeWatch({ storage, clock, log, host: slack.host, wakeOutbox }),
  };
}

/** Without a section for e-mails. */
const DEFAULT_LIFETIME = "1d";

function chooseLinks({
  notifications,
  linkSecret,
}: NotifyParts): { readonly secret: string; readonly forMs: number } | null {
  const lifetime = notifications.email?.links ?? DEFAULT_LIFETIME;
  return linkSecret === null || lifetime === false ? null : { secret: linkSecret, forMs: parseDurationMs(lifetime) };
}
