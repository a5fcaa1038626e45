// Options before the verb: `holdpoint --url <address> inbox ls` means `holdpoint inbox ls --url <address>`.
import type { Command } from "commander";
import type { Output } from "../output/output.ts";
import { ofServer } from "./options.ts";

/** Options of a server, on the program and on each group whose verbs take them. */
export function takeOptionsBeforeVerb(program: Command, output: () => Output): void {
  const groups = program.commands.filter(({ commands }) => commands.some((verb) => takes(verb, "url")));
  ofServer(program.enablePositionalOptions());
  for (const group of groups) for (const option of ofServer(group.enablePositionalOptions()).options) option.hideHelp(); // in the help of the verbs
  program.hook("preAction", (_program, verb) => {
    handDown(verb);
    const expression: unknown = verb.getOptionValue("jq");
    return typeof expression === "string" ? applyJq(verb, expression, output()) : undefined;
  });
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

/** `--jq` implies `--json`. */
async function applyJq(verb: Command, expression: string, output: Output): Promise<void> {
  verb.setOptionValue("json", true);
  await output.filter(expression).catch((error: Error) => verb.error(`error: ${error.message}`));
}

const FLAGS: Readonly<Record<string, string>> = { json: "--json", jq: "--jq", url: "--url", apiKey: "--api-key" };
