// Options: those that several commands share, and the parsers of their values.
import { type Command, InvalidArgumentError } from "commander";
import { readSeconds } from "../client/read-duration.ts";

const COUNT_MAX = 10_000;

export function count(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= COUNT_MAX) return value;
  throw new InvalidArgumentError(`expected a number from 1 to ${COUNT_MAX}.`);
}

export function milliseconds(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected a number of milliseconds.");
}

/** @returns the text: the setting of the same meaning reads it */
export function port(text: string): string {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return text;
  throw new InvalidArgumentError("expected a port from 0 to 65535.");
}

/** @returns the text, as port */
export function positive(text: string): string {
  if (/^0*[1-9]\d*$/.test(text)) return text;
  throw new InvalidArgumentError("expected a number from 1.");
}

export function age(text: string): string {
  if (readSeconds(text) !== null) return text;
  throw new InvalidArgumentError("expected 90s, 15m, 2h or 7d.");
}

export function time(text: string): string {
  if (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw new InvalidArgumentError("expected a time such as 2026-11-23T00:00:00Z.");
}

export const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

export const json = (command: Command): Command =>
  command.option("--json", "print JSON").option("--jq <expression>", "print what this jq expression makes of the JSON");

/** Verbs whose objects have a page in the console. */
export const paged = (command: Command): Command => command.option("--web", "open the page in the browser instead");

const API_KEY = "key to send (safer: HOLDPOINT_API_KEY, hidden from other users of the machine)";

/** Verbs that call the agent server, and print no JSON. */
export const calling = (command: Command): Command =>
  command.option("--url <address>", "URL of the agent server (HOLDPOINT_URL)").option("--api-key <key>", API_KEY);

export const ofServer = (command: Command): Command => calling(json(command));

export const ofTraces = (command: Command): Command =>
  json(command).option("--url <address>", "URL of the trace store").option("--api-key <key>", API_KEY);

export const listed = (command: Command, limit: number): Command =>
  command
    .option("--wide", "do not truncate lines")
    .option("--limit <number>", "maximum number of entries", count, limit);

export const named = (command: Command): Command =>
  command.option("--by <name>", "your name, on a server without authentication");

export const working = (command: Command): Command => named(ofServer(command));

export const answering = (command: Command): Command =>
  working(command).option("--wait", "wait for the resumed run and print the state of the thread");

export const confirmed = (command: Command): Command => command.option("--yes", "skip the confirmation");
