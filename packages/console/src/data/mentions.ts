// Mentions: the people that a word after `@` may mean. Pure.
import type { Person } from "@holdpoint/api/identity.ts";

type Named = Pick<Person, "name" | "display_name">;

const SUGGESTED_MAX = 5;

/** People whom the word after the last `@` may mean; none without such a word. */
export function findMentions<Person extends Named>(text: string, people: readonly Person[]): readonly Person[] {
  const [, typed] = /(?:^|\s)@([^\s@]*)$/.exec(text) ?? [];
  return typed === undefined ? [] : findPeople(typed, people);
}

/** People whose name, or a word of whose shown name, begins so. */
export function findPeople<Person extends Named>(typed: string, people: readonly Person[]): readonly Person[] {
  const begins = (name: string): boolean => name.toLowerCase().startsWith(typed.toLowerCase());
  return people
    .filter(({ name, display_name: shown }) => begins(name) || shown.split(" ").some(begins))
    .slice(0, SUGGESTED_MAX);
}

/** The text with the word after the last `@` as this name. */
export const mention = (text: string, name: string): string => text.replace(/@[^\s@]*$/, () => `@${name} `);
