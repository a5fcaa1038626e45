// Suggestion: an unknown verb → the verb of another group with that name: `holdpoint approve` → `holdpoint inbox
// approve`. commander itself suggests similar names of the same group.
import type { Command } from "commander";

const NAMED_MAX = 4;

/** The error of commander, with a suggestion if it has none. @param name how a shell starts the program */
export function withSuggestion(program: Command, name: string, error: string): string {
  const [, unknown = ""] = /unknown command '([^']+)'/.exec(error) ?? [];
  if (unknown === "" || error.includes("Did you mean")) return error;
  const found = listLeaves(program, [name]).filter((path) => path.split(" ").at(-1) === unknown);
  if (found.length > 0) return `${error.trimEnd()}\n(Did you mean ${found.slice(0, NAMED_MAX).join(" or ")}?)\n`;
  const groups = program.commands.map((one) => one.name()).join(", ");
  return `${error.trimEnd()}\n(Commands: ${groups})\n`;
}

function listLeaves(command: Command, path: readonly string[]): readonly string[] {
  if (command.commands.length === 0) return [path.join(" ")];
  return command.commands.flatMap((one) => listLeaves(one, [...path, one.name()]));
}
