// Options before the verb: `holdpoint --url <address> inbox ls` means `holdpoint inbox ls --url <address>`.
import type { Command } from "commander";
import { ofServer } from "./options.ts";

/** Options of a server, on the program and on each group whose verbs take them. */
export function takeOptionsBeforeVerb(program: Command): void {
  const groups = program.commands.filter(({ commands }) => commands.some((verb) => takes(verb, "url")));
  ofServer(program.enablePositionalOptions());
  for (const group of groups) for (const option of ofServer(group.enablePositionalOptions()).options) option.hideHelp(); // in the help of the verbs
  program.hook("preAction", (_program, verb) => handDown(verb));
}

const takes = ({ options }: Command, name: string): boolean =>
  options.some((option) => option.attributeName() === name);

/** The option nearest to the verb counts. */
function handDown(verb: Command): void {
  for (let above = verb.parent; above !== null; above = above.parent)
    for (const [name, value] of Object.entries(above.opts())) {
      const flag = FLAGS[name];
      if (flag === undefined) continue;
      if (!takes(verb, name)) verb.error(`error: ${verb.name()} has no option '${flag}'`);
      if (verb.getOptionValue(name) === undefined) verb.setOptionValue(name, value);
    }
}

const FLAGS: Readonly<Record<string, string>> = { json: "--json", url: "--url", apiKey: "--api-key" };
