// Deliveries: the rules that an event meets → the messages that leave, with their recipients and times.
// Invariants:
//   - A recipient gets one message about an event by each channel, however many rules name it; the earliest time
//     counts.
//   - Who is assigned, and who is in a group, is read in the transaction that stores the messages.
import type { Interrupt } from "@holdpoint/server/model/model.ts";
import type { Tx } from "@holdpoint/server/ports/ports.ts";
import type { NoticeEvent } from "@holdpoint/server/webhooks/notice-row.ts";
import type { Contact, Directory } from "./directory.ts";
import type { NotificationRule, Notifications } from "./notifications.ts";
import { sendTime } from "./send-time.ts";

export interface DeliveryPlan {
  readonly channel: "slack" | "email";
  /** Slack: a channel, a member or an e-mail address to find one by. E-mail: an address. */
  readonly to: string;
  /** The person behind the address; null for a channel of Slack. */
  readonly person: string | null;
  readonly dueAt: number;
  /** Messages with the same text leave together. Null: at once, alone. */
  readonly batch: string | null;
}

export interface AskedEvent {
  readonly event: NoticeEvent;
  readonly item: Interrupt;
  readonly assistantName: string | null;
  readonly at: number;
}

export async function planDeliveries(
  tx: Pick<Tx, "person" | "people">,
  { rules }: Pick<Notifications, "rules">,
  directory: Directory,
  asked: AskedEvent,
): Promise<readonly DeliveryPlan[]> {
  const plans = new Map<string, DeliveryPlan>();
  for (const rule of rules.filter((one) => applies(one, asked))) {
    const dueAt = sendTime(rule, asked.at, asked.item.expiresAt);
    const isAlone = rule.digest === undefined && dueAt === asked.at;
    for (const channel of ["slack", "email"] as const) {
      for (const { to, person } of await listRecipients(tx, directory, rule[channel] ?? [], { channel, asked })) {
        const key = `${channel} ${to}`;
        const batch = isAlone ? null : `${key} ${rule.name}`;
        if ((plans.get(key)?.dueAt ?? Infinity) > dueAt) plans.set(key, { channel, to, person, dueAt, batch });
      }
    }
  }
  return [...plans.values()];
}

function applies(rule: NotificationRule, { event, item, assistantName }: AskedEvent): boolean {
  const fits = (list: readonly string[] | undefined, ...values: readonly (string | null)[]): boolean =>
    list === undefined || values.some((value) => value !== null && list.includes(value));
  return (
    rule.events.includes(event) &&
    fits(rule.graphs, item.graphId) &&
    fits(rule.assistants, item.assistantId, assistantName) &&
    fits(rule.kinds, item.kind) &&
    fits(rule.assignees, ...listAssignees(item))
  );
}

type Reviewed = Interrupt & { readonly review?: { readonly assignees: readonly (readonly string[])[] } | null };

/** People and groups (`group:<name>`) that the item waits for: who has claimed it, or else its reviewers. */
function listAssignees({ claim, review }: Reviewed): readonly string[] {
  return claim !== null ? [claim.by] : [...new Set(review?.assignees.flat() ?? [])];
}

/** A channel or a member of Slack. */
const IS_PLACE = /^#|^[CGDUW][A-Z0-9]{6,}$/;

type Recipient = Pick<DeliveryPlan, "to" | "person">;

async function listRecipients(
  tx: Pick<Tx, "person" | "people">,
  directory: Directory,
  names: readonly string[],
  { channel, asked }: { readonly channel: DeliveryPlan["channel"]; readonly asked: AskedEvent },
): Promise<readonly Recipient[]> {
  const found: Recipient[] = [];
  const add = (contact: Contact | null): void => {
    if (contact === null) return; // an address of two people reaches neither
    const to = channel === "slack" ? (contact.slack ?? contact.email) : contact.email;
    if (to !== null) found.push({ to, person: contact.name });
  };
  for (const name of names.flatMap((one) => (one === "assignees" ? listAssignees(asked.item) : one))) {
    const [kind = "", rest] = name.split(":");
    if (kind === "group" && rest !== undefined) (await directory.inGroup(tx, rest)).forEach(add);
    else if (kind === "role" && rest !== undefined) (await directory.withRole(tx, rest)).forEach(add);
    else if (name.includes("@")) add(directory.byEmail(name));
    else if (channel === "slack" && IS_PLACE.test(name)) found.push({ to: name, person: null });
    else add(await directory.byName(tx, name));
  }
  return found;
}
