// Wrong command lines.
// Checked:
//   cli-usage.1. Every verb answers a wrong option, argument or value with exit code 2, nothing on the output, and one
//        line of one style: `holdpoint: what is wrong`.
//   cli-usage.2. The values that only the server knows to be wrong end in the same way.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Command } from "commander";
import type { Cli } from "../../packages/holdpoint/src/cli/client/command-context.ts";
import { registerVerbs, type VerbPorts } from "../../packages/holdpoint/src/cli/program/register.ts";
import { formatUsageError } from "../../packages/holdpoint/src/cli/program/suggest.ts";
import { holdpoint, verb, type Ended } from "../harness/cli.ts";
import { removeFolder } from "../harness/server.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";

let server: ServerHere;
before(async () => {
  server = await startServerHere();
});
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

const NO_PORTS = {} as unknown as VerbPorts;
const SILENT = { terminal: {}, run: () => assert.fail("the verb ran") } as unknown as Cli;

function createTree(said: string[] = []): Command {
  const program: Command = new Command("holdpoint").exitOverride().configureOutput({
    writeErr: (text) => void said.push(text),
    outputError: (text) => void said.push(formatUsageError(program, "holdpoint", text)),
  });
  registerVerbs(program, SILENT, NO_PORTS);
  return program;
}

function listLeaves(command: Command, path: readonly string[]): readonly (readonly [string[], Command])[] {
  if (command.commands.length === 0) return [[[...path], command]];
  return command.commands.flatMap((one) => listLeaves(one, [...path, one.name()]));
}

/** A command line that is right so far: an argument for each that the verb needs, and its mandatory options. */
function completeLine(path: readonly string[], command: Command): readonly string[] {
  const fill = (choices: readonly string[] | undefined): string => choices?.[0] ?? "x";
  const args = command.registeredArguments.map((argument) => fill(argument.argChoices));
  const options = command.options.flatMap((option) =>
    option.mandatory ? [option.long ?? "", fill(option.argChoices)] : [],
  );
  return [...path, ...options, ...args];
}

/** Wrong lines of one verb: what is wrong → the line. */
function listWrong(path: readonly string[], command: Command): readonly (readonly [string, readonly string[]])[] {
  const line = completeLine(path, command);
  const { registeredArguments: known, options } = command;
  const checked = options.filter(
    ({ argChoices, parseArg, long }) => argChoices !== undefined || PARSED.has(long ?? parseArg?.name ?? ""),
  );
  return [
    ["an unknown option", [...path, "--nope", ...line.slice(path.length)]],
    ...(known.some(({ variadic }) => variadic) ? [] : [["an argument too many", [...line, "y"]] as const]),
    ...(known.some(({ required }) => required) ? [["a missing argument", path] as const] : []),
    ...(known[0]?.argChoices === undefined ? [] : [["no choice", [...path, "nope"]] as const]),
    ...checked.map(({ long }) => [`${long} nope`, [...path, long ?? "", "nope", ...line.slice(path.length)]] as const),
  ];
}

/** Options whose values the command line itself reads. */
const PARSED: ReadonlySet<string> = new Set(["--limit", "--older-than", "--since", "--slower", "--approvals"]);

test("every verb refuses a wrong line with exit code 2 and one line (cli-usage.1)", async () => {
  let rows = 0;
  for (const [path, command] of listLeaves(createTree(), []))
    for (const [what, line] of listWrong(path, command)) {
      const said: string[] = [];
      const name = `${path.join(" ")}: ${what}`;
      const code = await createTree(said)
        .parseAsync([...line], { from: "user" })
        .then(
          () => assert.fail(`${name} is accepted`),
          (error: { readonly exitCode: number }) => error.exitCode,
        );
      assert.equal(code, 1, name); // main.ts and the harness make it 2
      assert.match(said.join(""), /^holdpoint: [^\n]+[^.\n]\n$/, name);
      assert.doesNotMatch(said.join(""), /error:|\. [a-z]/, name);
      rows++;
    }
  assert.ok(rows > 120, String(rows));
});

test("the programs end with exit code 2 (cli-usage.1)", async () => {
  const lines = [
    ["serve", "--nope"],
    ["serve", "--port", "many"],
    ["serve", "--role", "king"],
    ["serve", "x"],
    ["dev", "--port", "99999"],
    ["dev", "--origin", "x"],
    ["migrate", "x"],
    ["collector", "x"],
    ["collector", "explain"],
    ["collector", "explain", "no-such-file"],
    ["collector", "redact", "no-such-file"],
    ["collector", "rules", "no-such-file"],
    ["collector", "check", "--jq", ".["],
    ["validate", "x"],
    ["completion", "tcsh"],
  ];
  const ended = await Promise.all(lines.map((line) => holdpoint(line, { env: { LOG_JSON: "false" } })));
  for (const [index, { code, out, err }] of ended.entries()) {
    const name = lines[index]?.join(" ") ?? "";
    assert.deepEqual([code, out], [2, ""], `${name}: ${err}`);
    assert.match(err, /^holdpoint: [^\n]+[^.\n]\n$/, name);
  }
});

test("a value that the server refuses is a wrong line, too (cli-usage.2)", async () => {
  const run = (args: readonly string[]): Promise<Ended> => verb(args, { env: { HOLDPOINT_URL: server.url } });
  for (const args of [
    ["inbox", "ls", "--metadata", "5"],
    ["inbox", "ls", "--jq", ".["],
    ["inbox", "ls", "--jq", "nope"],
    ["audit", "ls", "--action", "No!"],
    ["audit", "verify", "--anchor", "x"],
    ["audit", "ls", "--by", ""],
    ["threads", "ls", "--metadata", "[]"],
    ["logs", "x", "y", "--follow"],
    ["api", "GET", "/info", "y"],
  ]) {
    const { code, out, err } = await run(args);
    assert.deepEqual([code, out], [2, ""], `${args.join(" ")}: ${err}`);
    assert.match(err, /^holdpoint: [^\n]+[^.\n]\n$/);
  }
});
