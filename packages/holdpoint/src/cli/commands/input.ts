// Input: values of the command line that several commands take, and the confirmation of irreversible ones.
// Invariant: an irreversible command asks for confirmation on a terminal, and requires --yes elsewhere.
import { type Json, type JsonObject, isJsonObject } from "@holdpoint/base/json/json.ts";
import type { Cli } from "../client/command-context.ts";
import { CliError, EXIT } from "../errors/cli-error.ts";

/** JSON, `@file` with JSON, or `-` for JSON on standard input. @throws {CliError} */
export async function jsonOption(cli: Cli, name: string, value: string): Promise<Json> {
  const text = await textOption(cli, value);
  try {
    return JSON.parse(text) as Json;
  } catch {
    const words = name === "the answer" ? `; for plain text use --text` : "";
    throw new CliError(`${name} is not JSON${words}`, EXIT.usage);
  }
}

/** Text, `@file` with text, or `-` for standard input. @throws {CliError} */
export async function textOption({ terminal, readFile }: Cli, value: string): Promise<string> {
  if (value === "-") return terminal.readInput();
  return value.startsWith("@") ? fileText(readFile, value.slice(1)) : value;
}

/** The object of an option, or null without the option. @throws {CliError} */
export async function objectOption(cli: Cli, name: string, value: string | undefined): Promise<JsonObject | null> {
  if (value === undefined) return null;
  const given = await jsonOption(cli, name, value);
  if (isJsonObject(given)) return given;
  throw new CliError(`${name} must be a JSON object, such as '{"tenant": "acme"}'`, EXIT.usage);
}

function fileText(readFile: (path: string) => string, path: string): string {
  try {
    return readFile(path);
  } catch {
    throw new CliError(`cannot read ${path}`, EXIT.usage);
  }
}

export interface Confirmed {
  readonly yes?: boolean;
}

/** @throws {CliError} */
export async function confirm({ terminal }: Cli, question: string, { yes }: Confirmed): Promise<void> {
  if (yes === true) return;
  if (terminal.ask === null) throw new CliError("this is irreversible: confirm with --yes", EXIT.usage);
  const reply = await terminal.ask(`${question} [y/N] `);
  if (!/^y(es)?$/i.test(reply.trim())) throw new CliError("cancelled: nothing changed");
}
