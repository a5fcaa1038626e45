// Keys and people: create, list, revoke the keys of programs; list and remove people who have signed in.
import type { Erasure, Key, Person } from "@holdpoint/api/identity.ts";
import { shortId, shortIds } from "@holdpoint/api/text/short-id.ts";
import { type ServerOptions, agentClient } from "../client/api-client.ts";
import type { Cli } from "../client/command-context.ts";
import { only } from "../client/resolve-id.ts";
import { CliError, EXIT, type ExitCode } from "../errors/cli-error.ts";
import { type PrintOptions, printJson, printList, printColumns } from "../output/print.ts";
import { duration, jsonText, oneLine } from "../output/sanitize.ts";
import type { Column } from "../output/table.ts";
import { type Confirmed, confirm, objectOption } from "./input.ts";

type Options = ServerOptions & PrintOptions;

export interface NewKey extends Options {
  readonly role: string;
  readonly expires?: string;
  readonly assistant: readonly string[];
  readonly metadata?: string;
}

const DAYS: Readonly<Record<string, number>> = { h: 1 / 24, d: 1, w: 7 };

/** `90d`, `12h`, `4w` → days. @throws {CliError} */
function parseDays(text: string): number {
  const [, count = "", unit = ""] = /^(\d+)([hdw])$/.exec(text) ?? [];
  if (Number(count) > 0) return Number(count) * (DAYS[unit] ?? 1);
  throw new CliError("--expires must be a time such as 12h, 90d or 52w", EXIT.usage);
}

export async function createKey(cli: Cli, name: string, options: NewKey): Promise<ExitCode> {
  const { role, expires, assistant, json } = options;
  const metadata = await objectOption(cli, "--metadata", options.metadata);
  const days = expires === undefined ? null : parseDays(expires);
  const client = await agentClient(cli, options);
  const created: Key & { readonly key: string } = await client.post("/keys", {
    name,
    role,
    ...(days === null ? {} : { expires_in_days: days }),
    ...(assistant.length === 0 ? {} : { assistants: assistant }),
    ...(metadata === null ? {} : { metadata }),
  });
  const { terminal } = cli;
  if (json === true) printJson(terminal, created);
  else {
    terminal.out(`${created.key}\n`);
    terminal.err(
      `created  ${shortId(created.key_id)}  ${created.name} (${created.role}), expires: ${created.expires_at ?? "never"}\n`,
    );
    terminal.err("Store the key now: nothing can show it again.\n");
  }
  return EXIT.done;
}

export async function listKeys(cli: Cli, options: Options): Promise<ExitCode> {
  const client = await agentClient(cli, options);
  const { keys }: { readonly keys: readonly Key[] } = await client.get("/keys");
  printColumns(cli, keys, keyColumns, { ...options, none: "No keys." });
  return EXIT.done;
}

function keyColumns(keys: readonly Key[], now: number, wide: boolean): readonly Column<Key>[] {
  const id = wide ? String : shortIds(keys.map((key) => key.key_id));
  const expiry = ({ expires_at: at }: Key): string => {
    if (at === null) return "never";
    const left = Date.parse(at) - now;
    return left > 0 ? `in ${duration(left)}` : "expired";
  };
  const limits = ({ assistants, metadata }: Key): string => {
    const parts = [assistants, Object.keys(metadata).length === 0 ? null : metadata];
    return parts.flatMap((part) => (part === null ? [] : [oneLine(jsonText(part))])).join(" ");
  };
  return [
    { title: "KEY", cell: (key) => id(key.key_id) },
    { title: "NAME", cell: (key) => oneLine(key.name), least: 8 },
    { title: "ROLE", cell: (key) => key.role },
    { title: "EXPIRES", cell: expiry },
    {
      title: "LAST USED",
      cell: ({ last_used_at: at }) => (at === null ? "never" : `${duration(now - Date.parse(at))} ago`),
    },
    { title: "LIMITS", cell: limits, least: 8, optional: true },
    { title: "CREATED BY", cell: (key) => oneLine(key.created_by), least: 8, optional: true },
  ];
}

export async function revokeKey(cli: Cli, word: string, options: Options & Confirmed): Promise<ExitCode> {
  const client = await agentClient(cli, options);
  const { keys }: { readonly keys: readonly Key[] } = await client.get("/keys");
  const found = keys.filter(({ key_id: id }) => id.startsWith(word.toLowerCase()));
  const listing = { what: "key", list: `${client.program} keys ls`, listed: keys.length };
  const key = only(found, word, ({ key_id: id, name }) => `${id} ${oneLine(name)}`, listing);
  await confirm(cli, `Revoke the key ${oneLine(key.name)} (${shortId(key.key_id)})?`, options);
  await client.delete(`/keys/${key.key_id}`);
  return done(cli, options, "revoked", { key_id: key.key_id });
}

export interface PeopleFilter extends Options {
  readonly group?: string;
  readonly limit: number;
}

const PAGE = 1000;

export async function listPeople(cli: Cli, filter: PeopleFilter): Promise<ExitCode> {
  const client = await agentClient(cli, filter);
  const people: Person[] = [];
  let after: string | undefined;
  do {
    const limit = Math.min(PAGE, filter.limit - people.length);
    const page: { readonly people: readonly Person[]; readonly next_after: string | null } = await client.get(
      "/people",
      { group: filter.group, after, limit },
    );
    people.push(...page.people);
    after = page.next_after ?? undefined;
  } while (after !== undefined && people.length < filter.limit);
  printList(cli.terminal, people, peopleColumns(cli.clock.now()), { ...filter, none: "No sign-ins yet." });
  return EXIT.done;
}

function peopleColumns(now: number): readonly Column<Person>[] {
  return [
    { title: "NAME", cell: ({ name }) => oneLine(name), least: 8 },
    { title: "DISPLAY NAME", cell: (person) => oneLine(person.display_name), least: 8, optional: true },
    { title: "E-MAIL", cell: ({ email }) => oneLine(email ?? ""), least: 8, optional: true },
    { title: "GROUPS", cell: ({ groups }) => oneLine(groups.join(", ")), least: 8, optional: true },
    { title: "LAST SEEN", cell: ({ last_seen_at: at }) => `${duration(now - Date.parse(at))} ago` },
  ];
}

export async function removePerson(cli: Cli, name: string, options: Options & Confirmed): Promise<ExitCode> {
  const client = await agentClient(cli, options);
  await confirm(cli, `Remove ${oneLine(name)} and end all sessions of this person?`, options);
  await client.delete(`/people/${encodeURIComponent(name)}`);
  return done(cli, options, "removed", { name });
}

export interface ErasedPerson extends Options, Confirmed {
  readonly dryRun?: boolean;
}

export async function erasePerson(cli: Cli, name: string, options: ErasedPerson): Promise<ExitCode> {
  const client = await agentClient(cli, options);
  const { dryRun = false, json } = options;
  if (!dryRun) await confirm(cli, `Erase ${oneLine(name)} everywhere, for good?`, options);
  const places: Record<string, number> = {};
  let pseudonym: string | null = null;
  let complete = false;
  let cursor: string | null = null;
  do {
    const body: object = { dry_run: dryRun, cursor };
    const reply: Erasure = await client.post(`/people/${encodeURIComponent(name)}/erase`, body);
    for (const [place, count] of Object.entries(reply.places)) places[place] = (places[place] ?? 0) + count;
    ({ pseudonym, complete, next_cursor: cursor } = reply);
  } while (cursor !== null);
  if (json === true) {
    printJson(cli.terminal, { name, pseudonym, dry_run: dryRun, places, complete });
    return EXIT.done;
  }
  const list = Object.entries(places).map(([place, count]) => `${place} ${count}`);
  cli.terminal.out(`${dryRun ? "would erase" : "erased"}  ${oneLine(name)}  ${list.join(", ")}\n`);
  if (pseudonym !== null) cli.terminal.out(`is now  ${pseudonym}\n`);
  if (!complete) cli.terminal.out("The name was still being written: erase once more when its writers have stopped.\n");
  return EXIT.done;
}

function done({ terminal }: Cli, { json }: PrintOptions, word: string, what: object): ExitCode {
  terminal.out(
    json === true ? `${jsonText({ ...what, [word]: true })}\n` : `${word}  ${shortId(Object.values(what).join())}\n`,
  );
  return EXIT.done;
}
