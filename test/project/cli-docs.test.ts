// Test of docs/reference/cli.md against the command line.
// Rules:
//   cli-docs.1. The reference names every command with its usage, description, options and their choices, as in its help.
//   cli-docs.2. The table of exit codes has exactly the existing codes.
//   cli-docs.3. Every option has a description, and every command takes --json but `completion` and the dialogue
//        `inbox review`.
// A failing comparison prints the expected reference.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Command } from "commander";
import type { Cli } from "../../packages/holdpoint/src/cli/client/command-context.ts";
import { EXIT } from "../../packages/holdpoint/src/cli/errors/cli-error.ts";
import { type VerbPorts, registerVerbs } from "../../packages/holdpoint/src/cli/program/register.ts";
import { holdpoint } from "../harness/cli.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../..", "docs/reference/cli.md"), "utf8");
/** Explained once for all verbs that have them. */
const COMMON = ["--json", "--jq", "--web", "--url", "--api-key", "--wide", "--limit"];

const program = new Command("holdpoint");
registerVerbs(program, { program: "holdpoint" } as unknown as Cli, {} as unknown as VerbPorts);

interface Verb {
  readonly name: string;
  readonly command: Command;
}

function listVerbs(command: Command, path: string): readonly Verb[] {
  const shown = command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== "help");
  return shown.flatMap((one) => {
    const name = `${path} ${one.name()}`;
    return one.commands.length > 0 ? listVerbs(one, name) : [{ name, command: one }];
  });
}

const VERBS = listVerbs(program, "holdpoint");
const words = (command: Command): string =>
  command.registeredArguments
    .map((argument) => {
      const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
      return argument.required ? ` <${name}>` : ` [${name}]`;
    })
    .join("");

function formatVerb({ name, command }: Verb): string {
  const isCommon = (long: string | undefined): boolean => COMMON.includes(long ?? "");
  const own = command.options.filter(({ long }) => !isCommon(long));
  const common = command.options.filter(({ long }) => isCommon(long)).map(({ flags }) => `\`${flags}\``);
  const rows = own.map(({ flags, description, argChoices }) => {
    const choices = argChoices === undefined ? "" : ` (${argChoices.map((one) => `\`${one}\``).join(", ")})`;
    return `| \`${flags}\` | ${description}${choices} |`;
  });
  const table = rows.length === 0 ? [] : ["", "| option | |", "| --- | --- |", ...rows];
  return [
    `### \`${name}${words(command)}\``,
    "",
    `${command.description()}.`,
    ...table,
    ...(common.length === 0 ? [] : ["", `Common: ${common.join(", ")}.`]),
  ].join("\n");
}

test("the reference has every verb and option, in the words of the help (cli-docs.1)", () => {
  const [, reference = ""] = PAGE.split("\n## Reference\n");
  const expected = VERBS.map(formatVerb).join("\n\n");
  const lines = (text: string): readonly string[] =>
    text
      .replace(/(\|) +| +(\|)/g, "$1 $2")
      .replace(/-{3,}/g, "---")
      .trim()
      .split("\n")
      .map((line) => line.replace(/\s+/g, " ").trim());
  assert.deepEqual(lines(reference), lines(expected), `docs/reference/cli.md, "Reference" has to be:\n\n${expected}\n`);
});

test("the help of each command names every option, with a description (cli-docs.3)", () => {
  for (const { name, command } of VERBS) {
    const help = command.helpInformation();
    for (const { flags, description } of command.options) {
      assert.ok(help.includes(flags), `${name} ${flags}`);
      assert.match(description, /^\S.{5,}/, `${name} ${flags}`);
    }
    assert.ok(
      /completion$|review$/.test(name) || command.options.some(({ long }) => long === "--json"),
      `${name} takes --json`,
    );
  }
});

test("the real command has these verbs (cli-docs.1)", async () => {
  const { out } = await holdpoint(["--help"]);
  for (const { name } of VERBS) assert.match(out, new RegExp(`^ +${name.split(" ")[1]}\\b`, "m"));
});

test("the exit codes of the page are those that there are (cli-docs.2)", () => {
  const listed = [...PAGE.matchAll(/^\| `(\d+)` \|/gm)].map(([, code]) => Number(code));
  assert.deepEqual(listed, Object.values(EXIT));
});
