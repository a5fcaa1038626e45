// Test of the commands on the pages: also of those that no test can run, because they need a domain, a cluster or
// hours.
// Rules:
//   doc-commands.1. Each `holdpoint …` in a block or in a line of a page is a command, and has only options, that the
//        help of the command line has.
//   doc-commands.2. Each `npm run …` is a script, each benchmark exists, and each named file below deploy/ exists.
//   doc-commands.3. Each block of shell commands, JSON or YAML is one for its parser.
//   doc-commands.4. Each variable `HOLDPOINT_…` of a page is a setting.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import { productTables } from "../../packages/holdpoint/src/main/host.ts";
import { holdpoint } from "../harness/cli.ts";
import { ROOT } from "../harness/server.ts";

const PAGES = globSync(["README.md", "docs/**/*.md", "examples/**/*.md"], {
  cwd: ROOT,
  exclude: (path) => path.startsWith("docs/site") || path.includes("node_modules"),
}).map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));

/** Variables of tests and of the console's build: no settings. */
const OTHER_VARIABLES = new Set(["HOLDPOINT_IMAGE", "HOLDPOINT_FAULTS", "HOLDPOINT_TEST_SEED"]);
const BENCHMARK =
  /^ -- (?:agent|collector|encryption|long-life|peers|processes|traces)(?: --(?:short|postgres|peer)| [a-z]+)*$/;

/** Words after a command: verbs and options. The completion script of the real command line lists them for each one. */
async function wordsAfter(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const { out } = await holdpoint(["completion", "bash"]);
  const levels = [...out.matchAll(/^ {4}"([a-z -]*)"\) words="([^"]*)" kinds="[^"]*" ;;$/gm)];
  return new Map(levels.map(([, path = "", words = ""]) => [path, new Set(words.split(" "))]));
}

/**
 * Command lines of a page: lines of `sh` blocks and inline code, from `holdpoint` up to a pipe, a redirection or a
 * comment.
 */
function listCommands(text: string): readonly string[] {
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block = ""]) =>
    block.replaceAll("\\\n", " ").split("\n"),
  );
  const prose = text.replace(/^```.*?^```$/gms, "");
  const inline = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code);
  return [...blocks, ...inline].flatMap((line) => {
    const [, rest] = /^(?:[A-Z_]+=\S* )*(?:npx |npm run )?holdpoint (?:-- )?([a-z][^|>#;&]*)/.exec(line.trim()) ?? [];
    return rest === undefined ? [] : [rest.trim()];
  });
}

/** Quoted texts are values. */
const splitWords = (command: string): readonly string[] =>
  command
    .replace(/'[^']*'|"[^"]*"/g, "value")
    .split(/\s+/)
    .filter((word) => word !== "");

function findFaults(command: string, after: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  const words = splitWords(command);
  let verb = "";
  for (const word of words) {
    if (!after.has(`${verb} ${word}`.trim())) break;
    verb = `${verb} ${word}`.trim();
  }
  const known = after.get(verb) ?? new Set();
  const next = words[verb === "" ? 0 : verb.split(" ").length];
  const isGroup = [...known].some((word) => after.has(`${verb} ${word}`.trim())) && verb !== "collector";
  const unknownVerb = isGroup && next !== undefined && !next.startsWith("-") ? [`no command ${next}`] : [];
  const options = words.filter((word) => /^--\w/.test(word) && !known.has(word));
  return [...unknownVerb, ...options.map((option) => `no option ${option}`)];
}

test("each command of a page is one that the command line has (doc-commands.1)", async () => {
  const after = await wordsAfter();
  const commands = PAGES.flatMap(({ path, text }) => listCommands(text).map((command) => ({ path, command })));
  const faults = commands.flatMap(({ path, command }) =>
    findFaults(command, after).map((fault) => `${path}: holdpoint ${command}: ${fault}`),
  );
  assert.deepEqual(faults, []);
  assert.ok(commands.length > 80, `${commands.length} commands`);
  for (const wrong of ["inboxes ls", "inbox lst", "inbox ls --older", "serve --rolle api"])
    assert.equal(findFaults(wrong, after).length, 1, wrong);
});

test("each script, benchmark and file of a command exists (doc-commands.2)", () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { readonly scripts: object };
  for (const { path, text } of PAGES) {
    for (const [, script = "", rest = ""] of text.matchAll(/npm run ([\w:-]+)([^`\n]*)/g)) {
      const isTemplate = ["dev", "check"].includes(script); // of the project that `holdpoint new` makes
      assert.ok(script in scripts || isTemplate, `${path}: npm run ${script}`);
      if (script === "bench" && rest.startsWith(" -- ")) assert.match(rest, BENCHMARK, path);
    }
    for (const [, file = ""] of text.matchAll(/[\s`"](deploy\/[\w./-]+\.\w+)/g))
      assert.ok(existsSync(join(ROOT, file)) || file === "deploy/.env", `${path}: ${file}`);
  }
});

test("each block is one for its parser (doc-commands.3)", () => {
  const shell: string[] = [];
  for (const { path, text } of PAGES) {
    for (const [, language = "", block = ""] of text.matchAll(/^```(sh|json|yaml)\n(.*?)^```$/gms)) {
      const where = `${path}:\n${block}`;
      if (language === "sh") shell.push(`: '${path}'\n(\n${block}\n)`);
      if (language === "json") assert.ok(isJson(block), where);
      if (language === "yaml")
        for (const document of parseAllDocuments(block)) assert.deepEqual(document.errors, [], where);
    }
  }
  const { stderr, status } = spawnSync("bash", ["-n"], { input: shell.join("\n"), encoding: "utf8" });
  assert.deepEqual([stderr, status], ["", 0], shell.join("\n"));
});

/** One value, or one a line. */
function isJson(text: string): boolean {
  return [[text], text.trim().split("\n")].some((parts) => {
    try {
      parts.forEach((part) => void JSON.parse(part));
      return true;
    } catch {
      return false;
    }
  });
}

test("each variable of a page is a setting (doc-commands.4)", async () => {
  const tables = await productTables();
  const names = new Set(tables.flatMap((table) => Object.values(table).flatMap((one) => [one.name, ...one.aliases])));
  const unknown = PAGES.flatMap(({ path, text }) =>
    [...text.matchAll(/\bHOLDPOINT_[A-Z_]+[A-Z]\b/g)]
      .map(([name]) => name)
      .filter((name) => !names.has(name) && !names.has(name.replace(/_FILE$/, "")) && !OTHER_VARIABLES.has(name))
      .map((name) => `${path}: ${name}`),
  );
  assert.deepEqual(unknown, []);
});
