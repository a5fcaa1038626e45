// Options: those that several commands share, and the parsers of their values.
import { type Command, InvalidArgumentError } from "commander";

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

export const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

export const json = (command: Command): Command => command.option("--json", "print JSON");

const API_KEY = "key to send (safer: HOLDPOINT_API_KEY, hidden from other users of the machine)";

export const ofServer = (command: Command): Command =>
  json(command).option("--url <address>", "URL of the agent server (HOLDPOINT_URL)").option("--api-key <key>", API_KEY);

export const ofTraces = (command: Command): Command =>
  json(command).option("--url <address>", "URL of the trace store").option("--api-key <key>", API_KEY);

export const listed = (command: Command, limit: number): Command =>
  command
    .option("--wide", "do not truncate lines")
    .option("--limit <number>", "maximum number of entries", count, limit);

export const answering = (command: Command): Command =>
  ofServer(command)
    .option("--by <name>", "your name, on a server without authentication")
    .option("--wait", "wait for the resumed run and print the state of the thread");

export const working = (command: Command): Command =>
  ofServer(command).option("--by <name>", "your name, on a server without authentication");

export const confirmed = (command: Command): Command => command.option("--yes", "skip the confirmation");
