// Mentions: the people that a word after `@` may mean. Pure.
export interface ListedPerson {
  readonly name: string;
  readonly display_name: string;
  readonly groups: readonly string[];
}

const MENTIONED_MAX = 5;

/** People whom the word after the last `@` may mean, of name or shown name; none without such a word. */
export function findMentions(text: string, people: readonly ListedPerson[]): readonly ListedPerson[] {
  const [, typed] = /(?:^|\s)@([^\s@]*)$/.exec(text) ?? [];
  if (typed === undefined) return [];
  const begins = (name: string): boolean => name.toLowerCase().startsWith(typed.toLowerCase());
  return people
    .filter(({ name, display_name: shown }) => begins(name) || shown.split(" ").some(begins))
    .slice(0, MENTIONED_MAX);
}

/** The text with the word after the last `@` as this name. */
export const mention = (text: string, name: string): string => text.replace(/@[^\s@]*$/, () => `@${name} `);
