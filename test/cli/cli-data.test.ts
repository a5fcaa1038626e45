// The verbs that start runs and keep data: run, assistants, crons, store; completion, examples and suggestions.
// Checked:
//   cli-data.1. `run` prints events as they arrive and the pause with the commands that answer it; a failed run exits
//        with 1.
//   cli-data.2. The verbs create, list, change and delete assistants, crons and items; deletion asks for confirmation.
//   cli-data.3. Every verb has an example, and its verb accepts each example.
//   cli-data.4. A completion script offers the verbs and options of its level (bash: in a real shell).
//   cli-data.5. An unknown verb names the nearest one.
//   cli-data.6. A command calls the server that a variable or the data folder names, and no other one.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Command } from "commander";
import type { Cli } from "../../src/cli/client/command-context.ts";
import { completionScript, SHELLS } from "../../src/cli/program/completion.ts";
import { examplesOf } from "../../src/cli/program/examples.ts";
import { registerVerbs, type VerbPorts } from "../../src/cli/program/register.ts";
import { holdpoint, lines, verb, type Ended } from "../harness/cli.ts";
import { removeFolder, startServer, temporaryFolder, type TestServer } from "../harness/server.ts";

let server: TestServer;
const folder = temporaryFolder();
before(async () => {
  server = await startServer();
});
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
  removeFolder(folder);
});

const run = (args: readonly string[], input = ""): Promise<Ended> =>
  verb(args, { env: { HOLDPOINT_URL: server.url }, input });

test("run prints events and the pause; the printed command answers it (cli-data.1)", async () => {
  const paused = await run(["run", "echo", "--input", '{"payload": "Well?"}']);
  assert.equal(paused.code, 0, paused.err);
  assert.match(paused.err, /^thread [0-9a-f-]{36}\n$/);
  assert.match(paused.out, /\npaused\n[^]*Well\?[^]*\nholdpoint inbox answer [0-9a-f]{12} /);
  const [, item = ""] = /holdpoint inbox answer ([0-9a-f]{12})/.exec(paused.out) ?? [];
  const answered = await run(["inbox", "answer", item, "--text", "yes", "--wait"]);
  assert.match(answered.out, /^answered .* now idle\n$/);

  const thread = paused.err.slice("thread ".length).trim();
  const again = await run(["run", "echo", "--input", "-", "--thread", thread, "--json"], '{"payload": "Once more"}');
  const events = lines(again.out) as readonly { readonly event?: string; readonly status?: string }[];
  assert.ok(events.some(({ event }) => event === "updates"));
  assert.equal(events.at(-1)?.status, "interrupted");
});

test("a run that fails exits with 1, an unknown assistant too (cli-data.1)", async () => {
  const unknown = await run(["run", "nothing", "--input", "{}"]);
  assert.equal(unknown.code, 1);
  assert.match(unknown.err, /assistant_not_found/);
  const wrong = await run(["run", "echo", "--input", "{"]);
  assert.deepEqual([wrong.code, wrong.err], [2, "holdpoint: --input is not JSON\n"]);
});

test("assistants are created, changed, listed and deleted (cli-data.2)", async () => {
  const made = await run(["assistants", "create", "echo", "--name", "careful", "--context", '{"a": 1}', "--json"]);
  const { assistant_id: id, context } = JSON.parse(made.out) as { assistant_id: string; context: object };
  assert.deepEqual(context, { a: 1 });
  assert.match((await run(["assistants", "update", id, "--name", "strict"])).out, /^updated {2}\S+ {2}version 2\n$/);
  assert.match((await run(["assistants", "ls", "--name", "stri"])).out, new RegExp(`\n${id} +echo +strict +2\n$`));
  assert.match((await run(["assistants", "versions", id])).out, /\n +2 +strict.*\n +1 +careful/);
  assert.equal((JSON.parse((await run(["assistants", "show", id])).out) as { name: string }).name, "strict");
  assert.equal((await run(["assistants", "delete", id])).code, 2, "confirmed with --yes");
  assert.equal((await run(["assistants", "delete", id, "--yes"])).out, `deleted  ${id}\n`);
});

test("crons are created, suspended, listed and deleted (cli-data.2)", async () => {
  const created = await run(["crons", "create", "echo", "--schedule", "0 9 * * 1-5", "--timezone", "Europe/Berlin"]);
  const [, id = ""] = /^created {2}(\S+) {2}next run: \d/.exec(created.out) ?? [];
  assert.match((await run(["crons", "disable", id.slice(0, 20)])).out, /^disabled/);
  assert.match((await run(["crons", "ls", "--assistant", "echo"])).out, /0 9 \* \* 1-5 +Europe\/Berlin +disabled/);
  assert.match((await run(["crons", "enable", id])).out, /next run: \d/);
  assert.equal((await run(["crons", "delete", id])).code, 2);
  assert.equal((await run(["crons", "delete", id, "--yes"])).code, 0);
  assert.equal((await run(["crons", "ls"])).out, "No matching crons.\n");
});

test("items of the store are put, listed, read and deleted (cli-data.2)", async () => {
  const file = join(folder, "profile.json");
  writeFileSync(file, '{"name": "Ann"}');
  assert.equal((await run(["store", "put", "users.7", "profile", `@${file}`, "--ttl", "60"])).code, 0);
  assert.match((await run(["store", "ls", "users"])).out, /\nusers\.7 +profile +\ds +\{"name":"Ann"\}\n$/);
  assert.deepEqual(JSON.parse((await run(["store", "get", "users.7", "profile"])).out), { name: "Ann" });
  assert.equal((await run(["store", "namespaces", "users"])).out, "NAMESPACE\nusers.7\n");
  assert.equal((await run(["store", "put", "users.7", "profile", "[1]"])).code, 2);
  assert.equal((await run(["store", "delete", "users.7", "profile"])).code, 2);
  assert.equal((await run(["store", "delete", "users.7", "profile", "--yes"])).code, 0);
  assert.match((await run(["store", "get", "users.7", "profile"])).err, /no item profile in users\.7/);
});

const program = new Command("holdpoint");
registerVerbs(program, {} as unknown as Cli, {} as unknown as VerbPorts);

function leavesOf(command: Command, path: readonly string[]): readonly (readonly [string, Command])[] {
  if (command.commands.length === 0) return [[path.join(" "), command]];
  return command.commands.flatMap((one) => leavesOf(one, [...path, one.name()]));
}

/** `a 'b c' --d` → `["a", "b c", "--d"]`, up to a redirection or a pipe. */
const wordsOf = (line: string): readonly string[] =>
  [...line.replace(/ [|>] .*/, "").matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? "");

test("every verb has an example that it accepts (cli-data.3)", () => {
  for (const [path, command] of leavesOf(program, [])) {
    const examples = examplesOf(path);
    assert.ok(examples.length > 0, path);
    for (const line of examples) {
      assert.ok(line.startsWith(path), line);
      command.exitOverride().action(() => undefined);
      command.configureOutput({ writeErr: () => undefined });
      command.parse([...wordsOf(line.slice(path.length))], { from: "user" });
    }
  }
});

test("the help of a server verb has examples too (cli-data.3)", async () => {
  const { out } = await holdpoint(["serve", "--help"]);
  assert.match(out, /\nExamples:\n {2}holdpoint serve --config langgraph\.json\n/);
});

const offered = (typed: readonly string[]): readonly string[] => {
  const script = `${completionScript(program, "bash")}
COMP_WORDS=(${typed.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_holdpoint; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["-c", script], { encoding: "utf8" }).trim().split("\n");
};

test("bash completes verbs, nested verbs and options (cli-data.4)", () => {
  assert.deepEqual(offered(["holdpoint", "tr"]), ["trace"]);
  assert.deepEqual(offered(["holdpoint", "inbox", ""]), [
    "ls",
    "show",
    "approve",
    "edit",
    "reject",
    "answer",
    "--help",
  ]);
  assert.deepEqual(offered(["holdpoint", "inbox", "ls", "--older"]), ["--older-than"]);
  assert.deepEqual(offered(["holdpoint", "inbox", "approve", "0fb6", "--w"]), ["--wait"]);
});

test("every shell's script names every verb and option, and no character ends a quotation (cli-data.4)", () => {
  for (const shell of SHELLS) {
    const script = completionScript(program, shell);
    for (const [path, command] of leavesOf(program, [])) {
      assert.ok(script.includes(path), `${shell}: ${path}`);
      for (const { long } of command.options) assert.ok(script.includes((long ?? "").slice(2)), `${shell}: ${long}`);
    }
    for (const line of script.split("\n")) assert.equal((line.match(/'/g) ?? []).length % 2, 0, `${shell}: ${line}`);
  }
});

test("an unknown verb names the nearest one (cli-data.5)", async () => {
  const says = async (...args: readonly string[]): Promise<string> => (await holdpoint(args)).err;
  const [typo, nested, lost] = await Promise.all([says("thread", "ls"), says("approve", "0fb6"), says("frobnicate")]);
  assert.match(typo, /Did you mean threads\?/);
  assert.match(nested, /Did you mean holdpoint inbox approve\?/);
  assert.match(lost, /Commands: serve, dev, /);
});

test("without a named server a command calls none, whichever listens (cli-data.6)", async () => {
  for (const args of [
    ["inbox", "ls"],
    ["trace", "ls"],
  ]) {
    const { code, out, err } = await verb(args, { env: {} });
    assert.deepEqual([code, out], [69, ""]);
    assert.match(err, /runs in this project: start one with holdpoint dev, or name one with HOLDPOINT_/);
  }
});
