// Directory: people by name, group, address and Slack user: those of the notification file, and those who have signed
// in. The file wins, because it is the operator's word.
import { findGrant, type RoleRule } from "@holdpoint/server/auth/role-rules.ts";
import type { Interrupt, Person } from "@holdpoint/server/model/model.ts";
import type { Tx } from "@holdpoint/server/ports/ports.ts";
import type { Notifications } from "./notifications.ts";

/** A person who can be reached. */
export interface Contact {
  /** Name in claims, assignments and the audit trail. */
  readonly name: string;
  readonly email: string | null;
  /** Id of the member in Slack; null: found by the e-mail address. */
  readonly slack: string | null;
  readonly groups: readonly string[];
  /** The notification file names the person. */
  readonly listed: boolean;
}

export interface Directory {
  byName(tx: PeopleReader, name: string): Promise<Contact>;
  inGroup(tx: PeopleReader, group: string): Promise<readonly Contact[]>;
  /** People who have signed in and have this role by their groups; empty without sign-in. */
  withRole(tx: PeopleReader, role: string): Promise<readonly Contact[]>;
  /** The people of the notification file. */
  readonly listedNames: readonly string[];
  /** The listed members of a group. */
  listedIn(group: string): readonly Contact[];
  /** A listed person, or null. */
  bySlack(member: string): Contact | null;
  /** A listed person, or the one with this address as the name; null if it fits two listed people. */
  byEmail(address: string): Contact | null;
  /**
   * Without sign-in the file is the only directory: true while it names the person, or sends this item to its assignees
   * and the person is one. True with sign-in, where people are those who have signed in.
   */
  stillNames(name: string, item: Pick<Interrupt, "review" | "claim">): boolean;
}

type PeopleReader = Pick<Tx, "person" | "people">;

const PAGE = 100;
/** Members of one group: a message to more is a mistake in the rules. */
const MEMBERS_MAX = 200;

/** @param roleRules null without sign-in */
export function createDirectory(
  { people, rules }: Pick<Notifications, "people" | "rules">,
  roleRules: readonly RoleRule[] | null,
): Directory {
  const listed = Object.entries(people).map(([name, { email, slack, groups }]): Contact => ({
    name,
    email: email ?? (name.includes("@") ? name : null),
    slack: slack ?? null,
    groups,
    listed: true,
  }));
  const unlisted = (name: string, person: Person | null): Contact => ({
    name,
    email: person?.email ?? (name.includes("@") ? name : null),
    slack: null,
    groups: person?.groups ?? [],
    listed: false,
  });
  const recipients = new Set(rules.flatMap(({ slack = [], email = [] }) => [...slack, ...email]));
  const named = (name: string): Contact | undefined => listed.find((one) => one.name === name);
  const listedIn = (group: string): readonly Contact[] => listed.filter(({ groups }) => groups.includes(group));
  return {
    byName: async (tx, name) => named(name) ?? unlisted(name, await tx.person(name)),
    async inGroup(tx, group) {
      const found = new Map(listedIn(group).map((one) => [one.name, one]));
      for (const person of await signedIn(tx, group, () => true)) {
        if (!found.has(person.name)) found.set(person.name, named(person.name) ?? unlisted(person.name, person));
      }
      return [...found.values()].slice(0, MEMBERS_MAX);
    },
    async withRole(tx, role) {
      if (roleRules === null) return [];
      const fits = ({ groups }: Person): boolean => findGrant(roleRules, groups, {})?.role === role;
      const found = await signedIn(tx, null, fits);
      return found.map((person) => named(person.name) ?? unlisted(person.name, person));
    },
    listedNames: listed.map(({ name }) => name),
    listedIn,
    bySlack: (member) => listed.find(({ slack }) => slack === member) ?? null,
    byEmail(address) {
      const same = (one: string | null): boolean => one?.toLowerCase() === address.toLowerCase();
      const found = listed.filter(({ email, name }) => same(email) || same(name));
      return found.length > 1 ? null : (found[0] ?? unlisted(address, null));
    },
    stillNames(name, { review, claim }) {
      if (roleRules !== null || named(name) !== undefined || recipients.has(name)) return true;
      return recipients.has("assignees") && (claim?.by === name || (review?.assignees ?? []).flat().includes(name));
    },
  };
}

/** At most MEMBERS_MAX people who have signed in. */
async function signedIn(
  tx: PeopleReader,
  group: string | null,
  fits: (person: Person) => boolean,
): Promise<readonly Person[]> {
  const found: Person[] = [];
  let after: string | null = null;
  do {
    const page: readonly Person[] = await tx.people({ group, after, limit: PAGE });
    found.push(...page.filter(fits));
    after = page.length < PAGE ? null : (page.at(-1)?.name ?? null);
  } while (after !== null && found.length < MEMBERS_MAX);
  return found.slice(0, MEMBERS_MAX);
}
