// The verb that starts runs; completion, examples and suggestions of all verbs.
// Checked:
//   cli-data.1. `run` prints events as they arrive and the pause with the commands that answer it; a failed run exits
//        with 1.
//   cli-data.2. The help lists the verbs in groups.
//   cli-data.3. Every verb has an example, and its verb accepts each example.
//   cli-data.4. A completion script names every verb and option; outside/shells.test.ts runs it in real shells.
//   cli-data.5. An unknown verb names the nearest one.
//   cli-data.6. A command calls the server that a variable or the data folder names, and no other one.
//   cli-data.7. A run that the server rejects leaves no thread behind.
//   cli-data.8. In a folder without langgraph.json, commands say the same.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Command } from "commander";
import { systemClock } from "@holdpoint/base/clock.ts";
import { readConfig } from "@holdpoint/base/config/config.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { writeLocalServer } from "../../packages/holdpoint/src/cli/client/local-server.ts";
import type { Cli } from "../../packages/holdpoint/src/cli/client/command-context.ts";
import { completionScript, SHELLS } from "../../packages/holdpoint/src/cli/program/completion.ts";
import { exampleFor } from "../../packages/holdpoint/src/cli/program/examples.ts";
import { registerVerbs, type VerbPorts } from "../../packages/holdpoint/src/cli/program/register.ts";
import { createTraceServer } from "@holdpoint/collector/traces/server.ts";
import { TRACE_SETTINGS } from "@holdpoint/collector/traces/settings.ts";
import { holdpoint, lines, verb, type Ended } from "../harness/cli.ts";
import { call, removeFolder, temporaryFolder, type Answer } from "../harness/server.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";

let server: ServerHere;
const folder = temporaryFolder();
before(async () => {
  server = await startServerHere();
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
  assert.match(
    paused.out,
    /\npaused\n[^]*Well\?[^]*\nholdpoint inbox answer [0-9a-f]{8} --text "…"\nholdpoint inbox answer [0-9a-f]{8} '<JSON>'\n/,
  );
  const [, item = ""] = /holdpoint inbox answer ([0-9a-f]{8})/.exec(paused.out) ?? [];
  const answered = await run(["inbox", "answer", item, "--text", "yes", "--wait"]);
  assert.match(answered.out, /^answered .* now idle\n$/);

  const thread = paused.err.slice("thread ".length).trim();
  const again = await run(["run", "echo", "--input", "-", "--thread", thread, "--json"], '{"payload": "Once more"}');
  const events = lines(again.out) as readonly { readonly event?: string; readonly status?: string }[];
  assert.ok(events.some(({ event }) => event === "updates"));
  assert.equal(events.at(-1)?.status, "interrupted");
});

test("a run that fails exits with 1, with file and line; an unknown assistant too (cli-data.1)", async () => {
  const failed = await run(["run", "throwing", "--input", "{}"]);
  assert.equal(failed.code, 1);
  assert.match(failed.out, /^error {2}NodeFault: thrown at once\n {4}at .*failures\.ts:\d+:\d+\)?\n/m);
  assert.doesNotMatch(failed.out, /node_modules/);
  const unknown = await run(["run", "nothing", "--input", "{}"]);
  assert.equal(unknown.code, 1);
  assert.match(unknown.err, /assistant_not_found/);
  const wrong = await run(["run", "echo", "--input", "{"]);
  assert.deepEqual([wrong.code, wrong.err], [2, "holdpoint: --input is not JSON\n"]);
});

const program = new Command("holdpoint");
registerVerbs(program, {} as unknown as Cli, {} as unknown as VerbPorts);

function listLeaves(command: Command, path: readonly string[]): readonly (readonly [string, Command])[] {
  if (command.commands.length === 0) return [[path.join(" "), command]];
  const shown = command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== "help");
  return shown.flatMap((one) => listLeaves(one, [...path, one.name()]));
}

/** `a 'b c' --d` → `["a", "b c", "--d"]`, up to a redirection or a pipe. */
const splitWords = (line: string): readonly string[] =>
  [...line.replace(/ [|>] .*/, "").matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? "");

test("every verb has an example that it accepts (cli-data.3)", () => {
  for (const [path, command] of listLeaves(program, [])) {
    const line = exampleFor(path);
    assert.ok(line?.startsWith(path) === true, `${path}: ${line}`);
    command.exitOverride().action(() => undefined);
    command.configureOutput({ writeErr: () => undefined });
    command.parse([...splitWords(line.slice(path.length))], { from: "user" });
  }
});

test("the help lists every verb in a group (cli-data.2)", async () => {
  const { out } = await holdpoint(["--help"]);
  const groups = [...out.matchAll(/^(\w[\w ]*):$/gm)].map(([, name]) => name);
  assert.deepEqual(groups, ["Options", "Services", "Work", "Access", "Project and data", "Commands"]);
});

test("without a langgraph.json, validate and doctor say the same (cli-data.8)", async (t) => {
  const cwd = temporaryFolder();
  t.after(() => removeFolder(cwd));
  for (const args of [["validate"], ["doctor"]]) {
    const { code, out, err } = await holdpoint(args, { cwd });
    assert.equal(code, args.includes("doctor") ? 0 : 78, args.join());
    assert.match(out + err, /no langgraph\.json in this folder/);
    assert.match(out + err, /create a project with node .* new my-agent, or try the samples with node .* dev$/m);
  }
  const named = await holdpoint(["serve", "--config", "none.json"], { cwd });
  assert.match(named.err, /none\.json: cannot be read/);
});

test("a rejected run leaves no thread behind (cli-data.7)", async () => {
  const search = (): Promise<Answer> => call(server, "POST", "/threads/search", { limit: 1000 });
  const before = (await search()).body as readonly unknown[];
  for (const args of [["nope"], ["agent", "--input", '{"lg_name": "Command"}']]) {
    const { code, err } = await verb(["run", ...args, "--url", server.url]);
    assert.equal(code, 1, err);
    assert.doesNotMatch(err, /^thread /m);
  }
  assert.equal(((await search()).body as readonly unknown[]).length, before.length);
});

test("the help of a server verb has an example too (cli-data.3)", async () => {
  const { out } = await holdpoint(["serve", "--help"]);
  assert.match(out, /\nExample:\n {2}node packages\/holdpoint\/src\/main\.ts serve --config langgraph\.json\n/);
});

test("every shell's script names every verb and option, and no character ends a quotation (cli-data.4)", () => {
  for (const shell of SHELLS) {
    const script = completionScript(program, shell);
    for (const [path, command] of listLeaves(program, [])) {
      assert.ok(script.includes(path), `${shell}: ${path}`);
      for (const { long } of command.options) assert.ok(script.includes((long ?? "").slice(2)), `${shell}: ${long}`);
    }
    for (const line of script.split("\n")) assert.equal((line.match(/'/g) ?? []).length % 2, 0, `${shell}: ${line}`);
  }
});

test("an unknown verb names the nearest one (cli-data.5)", async () => {
  const says = async (...args: readonly string[]): Promise<string> => (await holdpoint(args)).err;
  const [typo, nested, lost] = await Promise.all([says("thread", "ls"), says("reject", "0fb6"), says("frobnicate")]);
  assert.match(typo, /Did you mean threads\?/);
  assert.match(nested, /Did you mean node packages\/holdpoint\/src\/main\.ts inbox reject\?/);
  assert.match(lost, /Commands: serve, dev, /);
});

test("without a named server a command calls none, whichever listens (cli-data.6)", async () => {
  for (const args of [
    ["inbox", "ls"],
    ["trace", "ls"],
  ]) {
    const { code, out, err } = await verb(args, { env: {} });
    assert.deepEqual([code, out], [69, ""]);
    assert.match(
      err,
      /runs in this project: start one with holdpoint dev, or name one with (?:HOLDPOINT_URL or )?--url/,
    );
  }
});

const ignore = (): void => undefined;
const silent: Log = { debug: ignore, info: ignore, warning: ignore, error: ignore };

test("collector check tests the trace store of the data folder's server, and no other one (cli-data.6)", async (t) => {
  const dataDir = temporaryFolder();
  t.after(() => removeFolder(dataDir));
  const config = readConfig({ TRACES_PORT: "0", HOLDPOINT_DATA_DIR: dataDir }, TRACE_SETTINGS, () => assert.fail());
  const traces = createTraceServer(config, { clock: systemClock, log: silent, ring: null, version: "1" });
  await traces.start();
  t.after(() => traces.stop());
  const tracesUrl = `http://127.0.0.1:${traces.address().port}`;
  const remove = writeLocalServer(dataDir, {
    pid: process.pid,
    url: "http://127.0.0.1:1",
    tracesUrl,
    collectorUrl: null,
  });
  const check = (): Promise<Ended> => holdpoint(["collector", "check"], { env: { HOLDPOINT_DATA_DIR: dataDir } });
  const { code, out } = await check();
  assert.equal(code, 0, out);
  assert.match(out, new RegExp(`^ok +endpoint: ${tracesUrl} answers`));
  assert.match(out, /\nskipped +key: the local trace store needs none\n[^]*\nok +upload: /);
  remove();
  const none = await check();
  assert.deepEqual([none.code, none.out], [69, ""]);
  assert.match(none.err, /no trace store runs in this project/);
});
