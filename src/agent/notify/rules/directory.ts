// Directory: people by name, group, address and Slack user: those of the notification file, and those who have signed
// in. The file wins, because it is the operator's word.
import type { Person } from "../../model/model.ts";
import type { Tx } from "../../ports/ports.ts";
import type { Notifications } from "./notifications.ts";

/** Somebody who can be reached. */
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
  /** A listed person, or null. */
  bySlack(member: string): Contact | null;
  /** A listed person, or the one with this address as the name. */
  byEmail(address: string): Contact;
}

type PeopleReader = Pick<Tx, "person" | "people">;

const PAGE = 100;
/** Of one group: a message to more is a mistake in the rules. */
const MEMBERS_MAX = 200;

export function createDirectory({ people }: Pick<Notifications, "people">): Directory {
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
  const named = (name: string): Contact | undefined => listed.find((one) => one.name === name);
  return {
    byName: async (tx, name) => named(name) ?? unlisted(name, await tx.person(name)),
    async inGroup(tx, group) {
      const found = new Map(listed.filter(({ groups }) => groups.includes(group)).map((one) => [one.name, one]));
      for (let after: string | null = null; found.size < MEMBERS_MAX;) {
        const page: readonly Person[] = await tx.people({ group, after, limit: PAGE });
        for (const person of page) if (!found.has(person.name)) found.set(person.name, unlisted(person.name, person));
        after = page.at(-1)?.name ?? null;
        if (page.length < PAGE) break;
      }
      return [...found.values()].slice(0, MEMBERS_MAX);
    },
    bySlack: (member) => listed.find(({ slack }) => slack === member) ?? null,
    byEmail(address) {
      const same = (one: string | null): boolean => one?.toLowerCase() === address.toLowerCase();
      return listed.find(({ email, name }) => same(email) || same(name)) ?? unlisted(address, null);
    },
  };
}
