// Test of the pages and the sample graphs: a reader gets the output that a page shows. Rules:
//   examples.1. The `sh` blocks of a page, run top to bottom in one shell against a new server, all end with status 0
//        and an empty error output. `holdpoint` runs these sources. The test skips blocks with npm, or with a server
//        of their own.
//   examples.2. A `json` or `text` block right below is the command's output. Ids differ from run to run: equal ids on
//        a page must be equal in the output, different ones different. The test ignores times.
//   examples.3. Each folder of examples/ holds one graph in one file, runs on a server, and is in the table of
//        examples/README.md.
//   examples.4. The project of a page runs as the page shows, and passes the page's tests. test/e2e/follow-pages.test.ts
//        follows the tutorials, so they are here in the long form.
// The table of outputs shows that a wrong page cannot be green.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import type { LocalServer } from "../../packages/holdpoint/src/cli/client/local-server.ts";
import { testInLong } from "../harness/long.ts";
import { call, removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";

const EXAMPLES = join(ROOT, "examples");
const SAMPLES_CONFIG = join(EXAMPLES, "langgraph.json");
const SAMPLES = readdirSync(EXAMPLES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const PAGES = [
  "docs/concepts/runs-and-pauses.md",
  "docs/how-to/a2a.md",
  "docs/how-to/backup.md",
  "docs/how-to/mcp.md",
  "docs/how-to/migrate.md",
  "docs/how-to/notify.md",
  "docs/how-to/production.md",
  "docs/how-to/retention.md",
  "docs/how-to/upgrade.md",
  "docs/reference/agent-server.md",
  "docs/reference/interrupts.md",
];
/** Pages that make a project: each block below a line with a file's name is that file. */
const PROJECTS = ["docs/tutorials/first-approval.md"];

/** Far above the duration of a page (1 s, more on a busy machine), and far below the runner's limit. */
const PAGE_TIMEOUT_MS = 180_000;

interface Step {
  /** Where the `sh` block begins. */
  readonly line: number;
  readonly commands: string;
  readonly shown: string | null;
}

/** An `sh` block, and the `json` or `text` block below it, if nothing but blank lines is between them. */
const STEP = /^```sh\n(.*?)^```\n+(?:^```(?:json|text)\n(.*?)^```\n)?/gms;

function parseSteps(page: string): readonly Step[] {
  return [...page.matchAll(STEP)]
    .map(({ 1: commands = "", 2: shown = null, index }) => {
      return { line: page.slice(0, index).split("\n").length, commands, shown };
    })
    .filter(({ commands }) => !/\bnpm\b|\bnpx holdpoint (?:dev|serve|run)\b(?!.* --print-config)/.test(commands));
}

interface ShellResult {
  /** The output of each completed block, and the status of its last command. */
  readonly blocks: readonly { readonly output: string; readonly status: string }[];
  readonly errorOutput: string;
  readonly end: string;
}

/** A folder with the commands `holdpoint` and `npx holdpoint`. */
const commandFolder = temporaryFolder();
after(() => removeFolder(commandFolder));
for (const [name, line] of [
  ["holdpoint", `'${process.execPath}' '${join(ROOT, "packages/holdpoint/src/main.ts")}' "$@"`],
  ["npx", `"$@"`],
] as const)
  writeFileSync(join(commandFolder, name), `#!/bin/sh\nexec ${line}\n`, { mode: 0o700 });

/** Runs the blocks in one shell, in the folder `home`, with nothing of our environment but the path. */
function runBlocks(blocks: readonly string[], home: string): Promise<ShellResult> {
  const script = blocks.map((block) => `${block}printf '\\n--- status %s ---\\n' "$?"\n`).join("");
  return new Promise((resolve) => {
    execFile(
      "bash",
      ["-c", script],
      {
        cwd: home,
        env: { PATH: `${commandFolder}:${process.env["PATH"] ?? ""}`, HOME: home, HOLDPOINT_DATA_DIR: home },
        timeout: PAGE_TIMEOUT_MS,
        killSignal: "SIGKILL",
      },
      (error, stdout, errorOutput) => {
        const ended = [...stdout.matchAll(/(.*?)\n--- status (\d+) ---\n/gs)];
        resolve({
          blocks: ended.map(([, output = "", status = ""]) => ({ output, status })),
          errorOutput,
          end: error?.killed === true ? `killed after ${PAGE_TIMEOUT_MS} ms` : `status ${String(error?.code ?? 0)}`,
        });
      },
    );
  });
}

const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const HEX_ID = "\\b[0-9a-f]{32}\\b";
const ISO_TIME = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z";
const CHANGING = new RegExp(`(${UUID})|(${HEX_ID})|${ISO_TIME}`, "g");
const SHORTENED_ID = /\b[0-9a-f]{2}[0-9a-f-]*…/;

/** Each id in the order of its first appearance: `<uuid 1>`, `<id 2>`; every time is `<time>`. */
function createNaming(): (text: string) => string {
  const names = new Map<string, string>();
  return (text) =>
    text.replace(CHANGING, (found: string, uuid?: string, id?: string) => {
      if (uuid === undefined && id === undefined) return "<time>";
      const name = names.get(found) ?? `<${uuid === undefined ? "id" : "uuid"} ${names.size + 1}>`;
      names.set(found, name);
      return name;
    });
}

/** One JSON value, or one a line; any other text as it is. */
function parseOutput(text: string): unknown {
  for (const parts of [[text], text.trim().split("\n")]) {
    try {
      return parts.map((part): unknown => JSON.parse(part));
    } catch {
      continue; // the next way to read it
    }
  }
  return text.trim();
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * `got` in the form of `shown`, so that both print alike when they mean the same: members in the page's order (an extra
 * member, such as an id, replaces a missing one), without the members that the page omits.
 */
function alignTo(shown: unknown, got: unknown): unknown {
  if (typeof shown === "string" && typeof got === "string" && SHORTENED_ID.test(shown)) {
    const pattern = shown.split(SHORTENED_ID).map((part) => RegExp.escape(part));
    return new RegExp(`^${pattern.join(`(?:${UUID}|${HEX_ID})`)}$`).test(got) ? shown : got;
  }
  if (Array.isArray(shown) && Array.isArray(got))
    return got.map((item: unknown, index) => alignTo((shown as readonly unknown[])[index], item));
  if (!isObject(shown)) return got;
  if (Object.hasOwn(shown, "…")) return shown;
  if (!isObject(got)) return got;
  const others = Object.keys(got).filter((key) => !Object.hasOwn(shown, key));
  const pairs = Object.keys(shown).map((key) => ({ key, from: Object.hasOwn(got, key) ? key : others.shift() }));
  return Object.fromEntries([
    ...pairs.flatMap(({ key, from }) => (from === undefined ? [] : [[from, alignTo(shown[key], got[from])]])),
    ...others.map((key) => [key, got[key]]),
  ]);
}

interface Output {
  readonly shown: string;
  readonly got: string;
}

/** Compares the outputs of one page from the top; null if they are equal. */
function createComparison(): (output: Output) => Output | null {
  const nameShown = createNaming();
  const nameGot = createNaming();
  const print = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value, null, 2));
  return (output) => {
    const parsed = parseOutput(output.shown);
    const shown = nameShown(print(parsed));
    const got = nameGot(print(alignTo(parsed, parseOutput(output.got))));
    return shown === got ? null : { shown, got };
  };
}

/** @throws {AssertionError} at the first block with another output than the page */
async function checkPage(
  page: string,
  server: Pick<ServerHere, "url" | "dataDir">,
  hosts: Readonly<Record<string, string>> = {},
): Promise<void> {
  const steps = parseSteps(readFileSync(join(ROOT, page), "utf8"));
  assert.notDeepEqual(
    steps.filter(({ shown }) => shown !== null),
    [],
    `${page} shows no output`,
  );
  const all = Object.entries({ ...hosts, "localhost:2024": server.url });
  const commands = steps.map((step) =>
    all.reduce((text, [name, url]) => text.replaceAll(name, new URL(url).host), step.commands),
  );
  const { blocks, errorOutput, end } = await runBlocks(commands, server.dataDir);
  const compare = createComparison();
  for (const [index, { line, shown }] of steps.entries()) {
    const block = blocks[index];
    const fail = (what: string): never => assert.fail(`${page}, line ${line}: ${what}\n\n${errorOutput}`);
    if (block === undefined) return fail(`the block did not come to its end (the shell: ${end})`);
    const different = shown === null ? null : compare({ shown, got: block.output });
    if (different !== null)
      fail(
        `the block below does not show what this one prints\n\nexpected:\n${different.shown}\n\ngot:\n${different.got}\n\nas it was printed:\n${block.output.trim()}`,
      );
    if (block.status !== "0") fail(`status ${block.status}\n\n${block.output.trim()}`);
  }
  assert.equal(errorOutput, "", `${page}: there is error output`);
}

/** A line with a file's name, and the block below it. */
const FILE = /^`([\w.-]+)`:\n\n^```(?:json|ts)\n(.*?)^```$/gms;

/** The files of a page, in a new folder that has the packages of this project. */
function writeProject(page: string): string {
  const folder = temporaryFolder();
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{"type": "module"}');
  for (const [, name = "", text = ""] of readFileSync(join(ROOT, page), "utf8").matchAll(FILE))
    writeFileSync(join(folder, name), text);
  return folder;
}

/** A server with the sample graphs and a new data folder. */
async function withSamples(use: (server: ServerHere) => Promise<void>): Promise<void> {
  const server = await startServerHere({ config: SAMPLES_CONFIG });
  try {
    await use(server);
  } finally {
    await server.stop();
    removeFolder(server.dataDir);
  }
}

suite("every page", { concurrency: 2, timeout: 2 * PAGE_TIMEOUT_MS }, () => {
  for (const page of PAGES)
    test(`the commands of ${page} print the outputs on the page (examples.1, examples.2)`, () =>
      withSamples((server) => {
        const graphs = { agent: join(EXAMPLES, "agent/graph.ts:graph") };
        writeFileSync(join(server.dataDir, "langgraph.json"), JSON.stringify({ graphs })); // the reader's project
        return checkPage(page, server);
      }));

  for (const page of PROJECTS)
    testInLong(`the project of ${page} runs, and its commands print the output on the page (examples.4)`, async (t) => {
      const folder = writeProject(page);
      t.after(() => removeFolder(folder));
      const server = await startServerHere({ config: join(folder, "langgraph.json") });
      t.after(() => removeFolder(server.dataDir));
      t.after(() => server.stop());
      await checkPage(page, server);
    });

  test("the graph of docs/how-to/test-your-graph.md passes its test (examples.4)", async (t) => {
    const folder = writeProject("docs/how-to/test-your-graph.md");
    t.after(() => removeFolder(folder));
    await checkPage("docs/how-to/test-your-graph.md", { url: "http://127.0.0.1:1", dataDir: folder });
  });

  testInLong("the commands of docs/tutorials/first-trace.md print the output on the page (examples.4)", async (t) => {
    const folder = temporaryFolder();
    t.after(() => removeFolder(folder));
    const env = { PATH: process.env["PATH"], HOLDPOINT_DATA_DIR: folder, PORT: "0", HTTP_PORT: "0", TRACES_PORT: "0" };
    const dev = spawn(process.execPath, [join(ROOT, "packages/holdpoint/src/main.ts"), "dev", "--no-browser"], {
      env,
      cwd: folder,
    });
    t.after(() => dev.kill("SIGKILL"));
    dev.stderr.resume();
    for await (const chunk of dev.stdout) if (String(chunk).includes("Ctrl-C")) break;
    const { url, tracesUrl, collectorUrl } = JSON.parse(
      readFileSync(join(folder, "server.json"), "utf8"),
    ) as LocalServer;
    const hosts = { "localhost:4318": collectorUrl ?? "", "localhost:4319": tracesUrl ?? "" };
    await checkPage("docs/tutorials/first-trace.md", { url, dataDir: folder }, hosts);
  });

  for (const name of SAMPLES)
    test(`the sample ${name} is served, and the commands of its page print its outputs (examples.1, examples.2, examples.3)`, () =>
      withSamples(async (server) => {
        const { status, text } = await call(server, "GET", `/assistants/${name}`);
        assert.equal(status, 200, text);
        await checkPage(`examples/${name}/README.md`, server);
      }));
});

test("every folder of examples holds one graph in one file, which is configured and listed (examples.3)", () => {
  const graphs = SAMPLES.map((name) => {
    const code = readdirSync(join(EXAMPLES, name)).filter((file) => file.endsWith(".ts"));
    assert.equal(code.length, 1, `examples/${name} has ${code.join(", ") || "no .ts file"}`);
    return [name, `./${name}/${code.join("")}:graph`] as const;
  });
  const config = JSON.parse(readFileSync(SAMPLES_CONFIG, "utf8")) as { readonly graphs: unknown };
  assert.deepEqual(config.graphs, Object.fromEntries(graphs));
  const list = readFileSync(join(EXAMPLES, "README.md"), "utf8");
  const rows = [...list.matchAll(/^\| (\[`.*?`\]\(.*?\)) \|/gm)].map(([, link = ""]) => link);
  assert.deepEqual(new Set(rows), new Set(SAMPLES.map((name) => `[\`${name}\`](${name}/README.md)`)));
});

const UUID_A = "01a1fd83-41b5-7215-8528-5256b300bb3f";
const UUID_B = "f7a0d73e-5dd6-58c4-93ac-30134c8d499b";
const ID_A = "7374199fc688639b054adb8fb28d8fe0";
const ID_B = "0420db1ff0fc58557849a9f86a252ff4";

const OUTPUTS: readonly (Output & { readonly name: string; readonly same: boolean })[] = [
  { name: "the same value", shown: `{"a": [1, null]}`, got: `\n{"a":[1,null]}`, same: true },
  { name: "members in another order", shown: `{"a": 1, "b": 2}`, got: `{"b":2,"a":1}`, same: true },
  { name: "another value", shown: `{"a": 1}`, got: `{"a":2}`, same: false },
  { name: "another type", shown: `{"a": 1}`, got: `{"a":"1"}`, same: false },
  { name: "a member too many", shown: `{"a": 1}`, got: `{"a":1,"b":2}`, same: false },
  { name: "a member too few", shown: `{"a": 1, "b": 2}`, got: `{"a":1}`, same: false },
  { name: "another name", shown: `{"a": 1}`, got: `{"b":1}`, same: false },
  { name: "items in another order", shown: `[1, 2]`, got: `[2,1]`, same: false },
  { name: "an item too many", shown: `[1]`, got: `[1,2]`, same: false },
  { name: "an item too few", shown: `[1, 2]`, got: `[1]`, same: false },
  { name: "nothing at all", shown: `{"a": 1}`, got: "", same: false },
  { name: "one value a line", shown: `{"a": 1}\n2`, got: `{"a":1}\n  2\n`, same: true },
  { name: "a line too many", shown: `{"a": 1}`, got: `{"a":1}\n2`, same: false },
  { name: "other ids", shown: `["${ID_A}", "x:${UUID_A}"]`, got: `["${ID_B}","x:${UUID_B}"]`, same: true },
  { name: "ids as names", shown: `{"${UUID_A}": 1, "b": 2}`, got: `{"b":2,"${UUID_B}":1}`, same: true },
  {
    name: "an id twice that is shown twice",
    shown: `["${ID_A}", "${ID_A}"]`,
    got: `["${ID_B}","${ID_B}"]`,
    same: true,
  },
  { name: "two ids for one", shown: `["${ID_A}", "${ID_A}"]`, got: `["${ID_A}","${ID_B}"]`, same: false },
  { name: "one id for two", shown: `["${ID_A}", "${ID_B}"]`, got: `["${ID_A}","${ID_A}"]`, same: false },
  { name: "an id of another kind", shown: `["${ID_A}"]`, got: `["${UUID_A}"]`, same: false },
  { name: "no id", shown: `["${ID_A}"]`, got: `["x"]`, same: false },
  { name: "an id for a shortened one", shown: `["a:7374…"]`, got: `["a:${UUID_B}"]`, same: true },
  { name: "no id for a shortened one", shown: `["a:7374…"]`, got: `["a:7374"]`, same: false },
  { name: "a time", shown: `"2026-11-21T09:50:00.116Z"`, got: `"2027-01-01T00:00:00.000Z"`, same: true },
  { name: "no time", shown: `"2026-11-21T09:50:00.116Z"`, got: `"2027-01-01"`, same: false },
  { name: "anything for an omitted part", shown: `{"a": {"…": "left out"}}`, got: `{"a":{"b":[1]}}`, same: true },
  { name: "nothing for an omitted part", shown: `{"a": {"…": "left out"}}`, got: `{}`, same: false },
  { name: "the same text", shown: `"status":409\nid ${ID_A}\n`, got: `"status":409\nid ${ID_B}\n`, same: true },
  { name: "another text", shown: `"status":409\n`, got: `"status":422\n`, same: false },
];

for (const { name, shown, got, same } of OUTPUTS)
  test(`${name}: ${same ? "equals" : "differs from"} the page (examples.2)`, () => {
    assert.equal(createComparison()({ shown, got }) === null, same);
  });

test("an id that another block of the page shows has to be the one that came there (examples.2)", () => {
  const compare = createComparison();
  assert.equal(compare({ shown: ID_A, got: ID_B }), null);
  assert.equal(compare({ shown: `{"id": "${ID_A}"}`, got: `{"id":"${ID_B}"}` }), null);
  assert.deepEqual(compare({ shown: `["${ID_A}"]`, got: `["${ID_A}"]` }), {
    shown: '[\n  [\n    "<id 1>"\n  ]\n]',
    got: '[\n  [\n    "<id 2>"\n  ]\n]',
  });
});
