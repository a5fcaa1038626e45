// The command line in real shells and in a terminal.
//   shells.1. A completion script offers the verbs and options of its level in bash, zsh and fish.
//   shells.2. A terminal gets colours, and none with NO_COLOR or FORCE_COLOR=0; a pipe gets them with FORCE_COLOR.
//   shells.3. Values of the server are completed, and without a server nothing is, silently.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { Command } from "commander";
import type { Cli } from "../../packages/holdpoint/src/cli/client/command-context.ts";
import { completionScript, SHELLS, type Shell } from "../../packages/holdpoint/src/cli/program/completion.ts";
import { registerVerbs, type VerbPorts } from "../../packages/holdpoint/src/cli/program/register.ts";
import { holdpoint } from "../harness/cli.ts";
import { IS_LONG } from "../harness/long.ts";
import { removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";
import { newThread } from "../harness/threads.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";

let server: ServerHere;
const folder = temporaryFolder();
before(async () => {
  const main = join(ROOT, "packages/holdpoint/src/main.ts");
  writeFileSync(join(folder, "holdpoint"), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`, { mode: 0o755 });
  server = await startServerHere();
});
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
  removeFolder(folder);
});

const program = new Command("holdpoint");
registerVerbs(program, {} as unknown as Cli, {} as unknown as VerbPorts);

const quote = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(" ");

/** Shell → a program for it: `script` is loaded, and the words offered after `typed` are printed. */
const OFFER: Readonly<Record<Shell, (script: string, typed: readonly string[]) => string>> = {
  bash: (script, typed) => `${script}
COMP_WORDS=(${quote(typed)}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_holdpoint; printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: (script, typed) => `compdef() { :; }
_describe() {
  local item
  for item in "\${(@P)2}"; do [[ $item == \${words[CURRENT]}* ]] && print -r -- "\${item%%:*}"; done
  return 0
}
${script}
words=(${quote(typed)}); CURRENT=\${#words}; _holdpoint`,
  fish: (script, typed) => `${script}
complete -C ${quote([typed.join(" ")])} | string replace -r '\\t.*' ''; true`,
};

/** Sorted, because fish sorts. Nothing may be written to the error output. */
async function offered(
  shell: Shell,
  typed: readonly string[],
  env: Readonly<Record<string, string>> = { HOLDPOINT_URL: "http://127.0.0.1:1" },
): Promise<readonly string[]> {
  const args = { bash: ["--norc"], zsh: ["-f"], fish: ["--no-config"] }[shell];
  const text = OFFER[shell](completionScript(program, shell), typed);
  const child = promisify(execFile)(shell, [...args, "-c", text], {
    env: { PATH: `${folder}:${process.env["PATH"] ?? ""}`, HOME: folder, ...env },
  });
  const { stdout, stderr } = await child;
  assert.equal(stderr, "", `${shell}: ${typed.join(" ")}`);
  return stdout.trim().split("\n").sort();
}

for (const shell of SHELLS) {
  test(`${shell} completes verbs, nested verbs, options and choices (shells.1)`, async () => {
    assert.deepEqual(await offered(shell, ["holdpoint", "tr"]), ["trace"]);
    const verbs = "answer approve ask-again assign claim comment edit ls reject release review show snooze".split(" ");
    const options = shell === "fish" ? [] : ["--help"]; // fish offers options after a dash
    assert.deepEqual(await offered(shell, ["holdpoint", "inbox", ""]), [...options, ...verbs]);
    assert.deepEqual(await offered(shell, ["holdpoint", "inbox", "ls", "--older"]), ["--older-than"]);
    assert.deepEqual(await offered(shell, ["holdpoint", "inbox", "approve", "0fb6", "--w"]), ["--wait"]);
    assert.deepEqual(await offered(shell, ["holdpoint", "threads", "ls", "--status", "i"]), ["idle", "interrupted"]);
    assert.deepEqual(await offered(shell, ["holdpoint", "completion", "z"]), ["zsh"]);
  });

  test(`${shell} completes ids, graphs and people, and nothing without a server (shells.3)`, async () => {
    const thread = await newThread(server, "echo");
    await thread.run({ input: { payload: "Well?" } });
    const [item = ""] = (await thread.open()).map(({ id }) => id);
    const short = thread.threadId.slice(0, 13);
    const values: readonly (readonly [typed: readonly string[], value: string])[] = [
      [["inbox", "show", ""], item.slice(0, 8)],
      [["inbox", "approve", item.slice(0, 8), ""], item.slice(0, 8)],
      [["threads", "show", short.slice(0, 4)], short],
      [["logs", ""], short],
      [["open", short.slice(0, 4)], short],
      [["inbox", "ls", "--graph", "ec"], "echo"],
      [["run", "ec"], "echo"],
      [["run", "echo", "--thread", ""], short],
    ];
    // The program says what there is: each shell has to ask it.
    for (const [at, [typed, value]] of (IS_LONG || shell === "bash" ? values : values.slice(-2)).entries()) {
      const words = ["holdpoint", ...typed];
      assert.ok((await offered(shell, words, { HOLDPOINT_URL: server.url })).includes(value), words.join(" "));
      if (IS_LONG || at === 0) assert.ok(!(await offered(shell, words)).includes(value), words.join(" "));
    }
  });
}

test("a terminal gets colours, except with NO_COLOR (shells.2)", async () => {
  const main = join(ROOT, "packages/holdpoint/src/main.ts");
  const inTerminal = (env: Readonly<Record<string, string>>): Promise<string> => {
    const command = `stty cols 40; "${process.execPath}" "${main}" doctor --url ${server.url}`;
    const child = spawn("script", ["-qec", command, "/dev/null"], {
      cwd: folder,
      env: { PATH: process.env["PATH"], TERM: "xterm", ...env },
    });
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    return new Promise((resolve) => child.on("close", () => resolve(out)));
  };
  const [coloured, plain, off] = await Promise.all(
    [{}, { NO_COLOR: "1" }, { FORCE_COLOR: "0" }].map((env) => inTerminal(env)),
  );
  assert.match(coloured ?? "", /\u001b\[32mok/);
  assert.match(plain ?? "", /^ok /m);
  for (const text of [plain, off]) assert.doesNotMatch(text ?? "", /\u001b\[3/);
  const piped = async (env: Readonly<Record<string, string>>): Promise<string> =>
    (await holdpoint(["doctor", "--url", server.url], { cwd: folder, env })).out;
  assert.match(await piped({ FORCE_COLOR: "1" }), /\u001b\[32mok/);
  assert.doesNotMatch(await piped({ FORCE_COLOR: "1", NO_COLOR: "1" }), /\u001b/);
});
