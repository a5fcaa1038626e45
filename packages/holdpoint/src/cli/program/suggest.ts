// Suggestion: an invalid command line → one line in the style of every other error. An unknown verb names the verb of
// another group with that name: `holdpoint reject` → `holdpoint inbox reject`. commander itself suggests similar names
// of the same group.
import type { Command } from "commander";

const NAMED_MAX = 4;

/** @param name how a shell starts the program @param error the error as commander says it */
export function formatUsageError(program: Command, name: string, error: string): string {
  const [first = "", ...more] = error
    .replace(/^error: /, "")
    .replace(/( is invalid(?: for argument '[^']*')?)\. /, "$1: ")
    .replace("Allowed choices are ", "expected one of ")
    .trim()
    .split("\n");
  const hint = more.length > 0 ? more.join(" ").replace(/^\((.*)\)$/, "$1") : suggest(program, name, first);
  return `holdpoint: ${first.replace(/\.$/, "")}${hint === null ? "" : `. ${hint}`}\n`;
}

function suggest(program: Command, name: string, error: string): string | null {
  const [, unknown = ""] = /unknown command '([^']+)'/.exec(error) ?? [];
  if (unknown === "") return null;
  const found = listLeaves(program, [name]).filter((path) => path.split(" ").at(-1) === unknown);
  if (found.length > 0) return `Did you mean ${found.slice(0, NAMED_MAX).join(" or ")}?`;
  return `Commands: ${listNames(program).join(", ")}`;
}

/** The commands that the help shows. */
const listNames = (command: Command): readonly string[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((one) => one.name());

function listLeaves(command: Command, path: readonly string[]): readonly string[] {
  if (command.commands.length === 0) return [path.join(" ")];
  return command.commands.flatMap((one) => listLeaves(one, [...path, one.name()]));
}
