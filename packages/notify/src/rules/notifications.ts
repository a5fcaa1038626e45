// Notifications: the file of HOLDPOINT_NOTIFICATIONS, parsed and checked.
// Invariants:
//   notifications.1. Every problem of the file is reported at once, with its place in the file.
//   notifications.2. An unknown member is a problem: a misspelled filter would notify all people.
import * as z from "zod";
import type { ConfigProblem } from "@holdpoint/base/config/config.ts";

const RECIPIENTS_MAX = 50;
const RULES_MAX = 200;
const MINUTE_MS = 60_000;
const UNITS_MS = { m: MINUTE_MS, h: 60 * MINUTE_MS, d: 24 * 60 * MINUTE_MS } as const;
const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

const SLACK_API_URL = "https://slack.com/api/";

const zone = z.string().refine(isZone, 'must be a time zone such as "Europe/Berlin"');
const time = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as "18:30"')
  .describe("local time, such as 18:30");
const duration = z
  .string()
  .regex(/^[1-9]\d{0,3}[mhd]$/, 'must be a duration such as "15m", "2h" or "1d"')
  .describe("minutes, hours or days: 15m, 2h, 1d");

/** RFC 5321 without quoted local parts: no character that has a meaning in a header. */
const ADDRESS = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[A-Za-z0-9.-]{1,253}$/;
const address = z.string().regex(ADDRESS, "must be an e-mail address");
const groupName = z.string().regex(/^[\w.-]{1,128}$/, "must be a name of letters, digits, _, . and -");

const buildRecipient = (more: RegExp, expected: string) =>
  z
    .string()
    .refine(
      (text) =>
        text === "assignees" || /^(group|role):[\w.-]{1,128}$/.test(text) || ADDRESS.test(text) || more.test(text),
      `must be ${expected}, "assignees", "group:<name>", "role:<name>" or the e-mail address of a person`,
    );
const slackRecipient = buildRecipient(
  /^[CGDUW][A-Z0-9]{6,}$|^#[^\s#]{1,80}$/,
  "the id or the #name of a channel, the id of a member",
);
const emailRecipient = buildRecipient(/^(?!)/, "an address");
const list = <T extends z.ZodType>(one: T) => z.array(one).min(1).max(RECIPIENTS_MAX);

const quietHours = z
  .strictObject({
    from: time,
    to: time,
    days_off: z.array(z.enum(WEEKDAYS)).max(6).default([]).describe("whole days, besides the hours of every day"),
    time_zone: zone.default("UTC"),
  })
  .refine(({ from, to }) => from !== to, "from and to must differ")
  .describe("no message leaves in these hours, unless the deadline of an item is in them");

const digest = z
  .union([z.strictObject({ every: duration }), z.strictObject({ at: list(time), time_zone: zone.default("UTC") })])
  .describe("collects items, and sends them as one message");

const rule = z
  .strictObject({
    name: z.string().min(1).max(100).describe("names the rule in logs and commands"),
    graphs: list(z.string()).optional().describe("only items of these graphs"),
    assistants: list(z.string()).optional().describe("only items of these assistants, by id or name"),
    kinds: list(z.enum(["tool_approval", "form", "question", "breakpoint"])).optional(),
    assignees: list(z.string()).optional().describe("only items that one of these people or groups is assigned to"),
    events: list(z.enum(["asked", "escalated"])).default(["asked", "escalated"]),
    slack: list(slackRecipient).optional(),
    email: list(emailRecipient).optional(),
    digest: digest.optional(),
    quiet_hours: quietHours.optional(),
  })
  .refine(({ slack, email }) => slack !== undefined || email !== undefined, "needs slack, email or both");

const person = z.strictObject({
  email: address.optional().describe("if it differs from the name"),
  slack: z
    .string()
    .regex(/^[UW][A-Z0-9]{6,}$/, "must be the id of a member, such as U0123456789")
    .optional(),
  groups: z.array(groupName).max(100).default([]),
});

const PERSON_NAME = /^[\w.@+-]{1,200}$/;

export const notificationsSchema = z
  .strictObject({
    $schema: z.string().optional(),
    slack: z
      .strictObject({
        answers: z
          .enum(["members", "listed", "none"])
          .default("members")
          .describe("may answer in Slack: full members of the workspace, only the listed people, or nobody"),
        api_url: z
          .url({ protocol: /^https?$/, error: "must be an http or https URL" })
          .default(SLACK_API_URL)
          .describe("Slack's Web API; GovSlack has another"),
      })
      .default({ answers: "members", api_url: SLACK_API_URL }),
    email: z
      .strictObject({
        from: z
          .string()
          .max(320)
          .refine(
            (text) => ADDRESS.test(/^[^<>\u0000-\u001f]*<([^<>]+)>$/.exec(text)?.[1] ?? text),
            'must be an address, or "Name <address>"',
          ),
        links: z
          .union([z.literal(false), duration])
          .default("1d")
          .describe("lifetime of one-use links; false: none"),
      })
      .optional(),
    people: z
      .record(z.string().regex(PERSON_NAME, "must be a name of letters, digits, _, ., @, + and -"), person)
      .default({})
      .describe("people by their name in Holdpoint, usually the e-mail address"),
    rules: z.array(rule).max(RULES_MAX),
  })
  .meta({ title: "Notification rules of Holdpoint" });

export type Notifications = z.infer<typeof notificationsSchema>;
export type NotificationRule = Notifications["rules"][number];

/** The credentials that the process has. */
export interface NotifyCredentials {
  readonly slackToken: boolean;
  readonly smtp: boolean;
}

/** @returns the rules, or the problems (notifications.1) */
export function parseNotifications(text: string, has: NotifyCredentials): Notifications | readonly ConfigProblem[] {
  const problem = (reason: string): ConfigProblem => ({ name: "HOLDPOINT_NOTIFICATIONS", reason });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return [problem(`the file is not JSON: ${error instanceof Error ? error.message : "unreadable"}`)];
  }
  const parsed = notificationsSchema.safeParse(json);
  if (!parsed.success) return parsed.error.issues.map((issue) => problem(issueText(issue)));
  const problems = missing(parsed.data, has).map(problem);
  return problems.length > 0 ? problems : parsed.data;
}

function missing({ rules, email }: Notifications, { slackToken, smtp }: NotifyCredentials): readonly string[] {
  const found: string[] = [];
  const names = new Set<string>();
  for (const [at, { name, slack, email: to }] of rules.entries()) {
    if (names.has(name)) found.push(`rules[${at}].name: another rule has the name "${name}"`);
    names.add(name);
    if (slack !== undefined && !slackToken) found.push(`rules[${at}].slack: needs SLACK_BOT_TOKEN`);
    if (to !== undefined && !smtp) found.push(`rules[${at}].email: needs SMTP_URL`);
    if (to !== undefined && email === undefined) found.push(`rules[${at}].email: needs email.from, the sender`);
  }
  return found;
}

function issueText(issue: z.core.$ZodIssue): string {
  const nested = issue.code === "invalid_union" ? issue.errors.flat()[0] : undefined;
  const { path, message } =
    nested === undefined ? issue : { path: [...issue.path, ...nested.path], message: nested.message };
  const place = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("");
  return place === "" ? message : `${place.replace(/^\./, "")}: ${message}`;
}

/** `"15m"` → milliseconds. */
export function parseDurationMs(text: string): number {
  const unit = text.slice(-1) as keyof typeof UNITS_MS;
  return Number.parseInt(text, 10) * UNITS_MS[unit];
}

/** `"18:30"` → minutes of the day. */
export function parseMinutes(text: string): number {
  const [hours = 0, minutes = 0] = text.split(":").map(Number);
  return hours * 60 + minutes;
}

export function findWeekday(name: (typeof WEEKDAYS)[number]): number {
  return WEEKDAYS.indexOf(name);
}

function isZone(name: string): boolean {
  try {
    return Intl.DateTimeFormat("en", { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}
