// The command line in real shells and in a terminal.
//   shells.1. A completion script offers the verbs and options of its level in bash, zsh and fish.
//   shells.2. A terminal gets colours, and none with NO_COLOR.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Command } from "commander";
import type { Cli } from "../../packages/holdpoint/src/cli/client/command-context.ts";
import { completionScript, SHELLS, type Shell } from "../../packages/holdpoint/src/cli/program/completion.ts";
import { registerVerbs, type VerbPorts } from "../../packages/holdpoint/src/cli/program/register.ts";
import { removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";
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
complete -C ${quote([typed.join(" ")])} | string replace -r '\\t.*' ''`,
};

/** Sorted, because fish sorts. Nothing may be written to the error output. */
function offered(shell: Shell, typed: readonly string[]): readonly string[] {
  const args = { bash: ["--norc"], zsh: ["-f"], fish: ["--no-config"] }[shell];
  const text = OFFER[shell](completionScript(program, shell), typed);
  const { stdout, stderr, status } = spawnSync(shell, [...args, "-c", text], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: folder },
  });
  assert.deepEqual([stderr, status], ["", 0], `${shell}: ${typed.join(" ")}`);
  return stdout.trim().split("\n").sort();
}

for (const shell of SHELLS) {
  test(`${shell} completes verbs, nested verbs and options (shells.1)`, () => {
    assert.deepEqual(offered(shell, ["holdpoint", "tr"]), ["trace"]);
    const verbs = "answer approve ask-again assign claim comment edit ls reject release review show snooze".split(" ");
    const options = shell === "fish" ? [] : ["--help"]; // fish offers options after a dash
    assert.deepEqual(offered(shell, ["holdpoint", "inbox", ""]), [...options, ...verbs]);
    assert.deepEqual(offered(shell, ["holdpoint", "inbox", "ls", "--older"]), ["--older-than"]);
    assert.deepEqual(offered(shell, ["holdpoint", "inbox", "approve", "0fb6", "--w"]), ["--wait"]);
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
  const [coloured, plain] = await Promise.all([inTerminal({}), inTerminal({ NO_COLOR: "1" })]);
  assert.match(coloured, /\u001b\[32mok/);
  assert.match(plain, /^ok /m);
  assert.doesNotMatch(plain, /\u001b\[3/);
});
