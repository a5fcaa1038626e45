// Members: the person behind a member of Slack.
// Invariants:
//   - Only full members of the app's own workspace answer: no guests, no bots, no members of a connected workspace,
//     unless the notification file lists them.
//   - A person is found by the id in the list, then by the verified e-mail address of the profile. The address of a
//     guest's or another workspace's profile proves nothing: such members are found by their id only.
import type { Clock } from "@holdpoint/base/clock.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { SlackApi } from "@holdpoint/server/ports/ports.ts";
import type { Contact, Directory } from "../rules/directory.ts";
import type { Notifications } from "../rules/notifications.ts";

export type MemberOutcome =
  | { readonly kind: "person"; readonly contact: Contact }
  | { readonly kind: "refused"; readonly reason: string };

export interface Members {
  /** Never throws. */
  readPerson(member: string, signal: AbortSignal): Promise<MemberOutcome>;
  /** The id of the member with this address; null without one. */
  findMemberId(address: string, signal: AbortSignal): Promise<MemberId>;
}

export type MemberId = Awaited<ReturnType<SlackApi["call"]>> | { readonly kind: "found"; readonly id: string };

const KEPT_MS = 5 * 60_000;
const KEPT_MAX = 1000;

export function createMembers(
  { answers }: Notifications["slack"],
  { slack, directory, clock }: { readonly slack: SlackApi; readonly directory: Directory; readonly clock: Clock },
): Members {
  let team: string | null = null;
  const people = createKept<Contact>(clock);
  const ids = createKept<string>(clock);

  const findTeam = async (signal: AbortSignal): Promise<string | null> => {
    const reply = team === null ? await slack.call("auth.test", {}, signal) : null;
    if (reply?.kind === "ok") team = readReplyText(reply.body["team_id"]);
    return team;
  };

  const findPerson = async (member: string, signal: AbortSignal): Promise<MemberOutcome> => {
    const known = directory.bySlack(member);
    if (known !== null) return { kind: "person", contact: known };
    const [reply, ownTeam] = await Promise.all([slack.call("users.info", { user: member }, signal), findTeam(signal)]);
    if (reply.kind !== "ok") return refused("Slack did not name your account. Try again in a minute.");
    const user = asObject(reply.body["user"]);
    const email = readReplyText(asObject(user["profile"])["email"]);
    if (user["deleted"] === true || user["is_bot"] === true) return refused("This account cannot answer.");
    if (email === null)
      return refused("Slack shows no e-mail address of your account, so nobody knows who you are here.");
    const isGuest = ["is_restricted", "is_ultra_restricted", "is_stranger"].some((flag) => user[flag] === true);
    if (isGuest || user["team_id"] !== ownTeam || ownTeam === null)
      return refused("Only full members of the workspace answer in Slack.");
    const contact = directory.byEmail(email);
    if (contact === null) return refused("Your address stands twice in the notification file: ask an administrator.");
    if (answers === "listed" && !contact.listed)
      return refused("Only people in the notification file answer in Slack; you are not listed.");
    return { kind: "person", contact };
  };

  return {
    async readPerson(member, signal) {
      const kept = people.get(member);
      if (kept !== undefined) return { kind: "person", contact: kept };
      const found = await findPerson(member, signal);
      if (found.kind === "person") people.set(member, found.contact);
      return found;
    },
    async findMemberId(address, signal) {
      const kept = ids.get(address);
      if (kept !== undefined) return { kind: "found", id: kept };
      const reply = await slack.call("users.lookupByEmail", { email: address }, signal);
      const id = reply.kind === "ok" ? readReplyText(asObject(reply.body["user"])["id"]) : null;
      if (id === null) return reply.kind === "ok" ? { kind: "refused", reason: "users_not_found" } : reply;
      ids.set(address, id);
      return { kind: "found", id };
    },
  };
}

function refused(reason: string): MemberOutcome {
  return { kind: "refused", reason };
}

/** Values that are asked for again after a while; the oldest leave first. */
function createKept<T>(clock: Clock) {
  const kept = new Map<string, { readonly value: T; readonly until: number }>();
  return {
    get(key: string): T | undefined {
      const found = kept.get(key);
      return found !== undefined && found.until > clock.now() ? found.value : undefined;
    },
    set(key: string, value: T): void {
      kept.delete(key);
      kept.set(key, { value, until: clock.now() + KEPT_MS });
      for (const oldest of kept.keys()) {
        if (kept.size <= KEPT_MAX) break;
        kept.delete(oldest);
      }
    },
  };
}

function asObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function readReplyText(value: Json | undefined): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
