// The README's own-graph lines and both tutorials, followed from their text: block by block, each in a shell in an
// empty folder, with the package that a clone makes.
import assert from "node:assert/strict";
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { buildPackage } from "./build-package.ts";
import { removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";

const folder = temporaryFolder();
const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { readonly version: string };
/** The reader's variables: nothing of the tests. npm keeps what it has fetched. */
const env = {
  PATH: `${dirname(process.execPath)}:${(process.env["PATH"] ?? "").replaceAll(`${join(ROOT, "node_modules", ".bin")}:`, "")}`,
  HOME: folder,
  npm_config_cache: join(homedir(), ".npm"),
  HOLDPOINT: join(ROOT, "dist", "packages", `holdpoint-${version}.tgz`),
  CI: "1",
  ...(process.env["NODE_EXTRA_CA_CERTS"] === undefined
    ? {}
    : { NODE_EXTRA_CA_CERTS: process.env["NODE_EXTRA_CA_CERTS"] }),
};

before(buildPackage);
after(() => removeFolder(folder));

/** Files, commands, and the output below a block of commands, in the order of the page. */
const BLOCK = /(?:^`([\w.]+)`:\n\n)?^```(\w+)\n(.*?)^```$/gms;

interface Follower {
  cwd: string;
  dev: ChildProcess | null;
  /** Usual address → the one in force: another program may have the usual port. */
  ports: ReadonlyMap<string, string>;
  /** Variables that an earlier block has set, as shell lines. */
  variables: string;
}

async function follow(t: TestContext, page: string): Promise<void> {
  const cwd = join(folder, page.replace(/\W/g, "-"));
  execFileSync("mkdir", ["-p", cwd]);
  const reader: Follower = { cwd, dev: null, ports: new Map(), variables: "" };
  t.after(() => stop(reader.dev));
  const text = readFileSync(join(ROOT, page), "utf8");
  let printed = "";
  for (const [, file, language, block = ""] of text.matchAll(BLOCK)) {
    if (file !== undefined) writeFileSync(join(reader.cwd, file), block);
    else if (language === "sh") printed = await runBlock(reader, block);
    else if (language === "text") assert.equal(printed.trim(), block.trim(), page);
  }
  assert.ok(reader.dev !== null, "the page starts a server");
}

async function runBlock(reader: Follower, block: string): Promise<string> {
  const line = /^npx holdpoint dev$/m;
  const commands = block.replace(line, "").replace(/localhost:\d+/g, (usual) => reader.ports.get(usual) ?? usual);
  const script = `${reader.variables}\n${commands}\necho; echo "cwd=$PWD"; declare -p JSON THREAD NOW 2>/dev/null || true`;
  const run =
    commands.trim() === "" ? "" : execFileSync("bash", ["-ec", script], { cwd: reader.cwd, env, encoding: "utf8" });
  const [output = "", state = ""] = run.split("\ncwd=");
  if (state !== "") [reader.cwd = "", reader.variables] = [state.split("\n")[0], state.split("\n").slice(1).join("\n")];
  if (line.test(block)) {
    reader.dev = await startDev(reader.cwd);
    reader.ports = readPorts(reader.cwd);
  }
  return output;
}

function readPorts(cwd: string): ReadonlyMap<string, string> {
  const { url, collectorUrl, tracesUrl } = JSON.parse(
    readFileSync(join(cwd, ".holdpoint", "server.json"), "utf8"),
  ) as Readonly<Record<"url" | "collectorUrl" | "tracesUrl", string>>;
  const usual = { "localhost:2024": url, "localhost:4318": collectorUrl, "localhost:4319": tracesUrl };
  return new Map(Object.entries(usual).map(([address, inForce]) => [address, new URL(inForce).host]));
}

async function startDev(cwd: string): Promise<ChildProcess> {
  const stdio = ["ignore", "pipe", "ignore"] as const;
  const dev = spawn("npx", ["holdpoint", "dev"], { cwd, env, stdio: [...stdio], detached: true }); // a group, for its end
  for await (const chunk of dev.stdout) if (String(chunk).includes("Ctrl-C")) break;
  return dev;
}

/** The next page starts a server on the same ports. */
async function stop(dev: ChildProcess | null): Promise<void> {
  if (dev?.pid === undefined) return;
  const ended = once(dev, "close");
  dev.stdout?.resume();
  process.kill(-dev.pid, "SIGINT");
  await ended;
}

for (const page of ["docs/tutorials/first-approval.md", "docs/tutorials/first-trace.md"])
  test(`${page} works as written`, { timeout: 390_000 }, async (t) => {
    await follow(t, page);
  });

test("the README's lines make a project, serve it, and its run pauses", { timeout: 390_000 }, async (t) => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const [, block = ""] = /Your own graph, in three lines:\n\n```sh\n(.*?)^```$/ms.exec(readme) ?? [];
  const [make = "", serve = "", run = ""] = block.trim().split("\n");
  assert.equal(serve, "npx holdpoint dev");
  const target = join(folder, "my-agent");
  execFileSync("bash", ["-ec", make.replace("npm run package && ", "").replaceAll("../my-agent", target)], {
    cwd: ROOT,
    env,
    encoding: "utf8",
  });
  const manifest = readFileSync(join(target, "package.json"), "utf8");
  assert.ok(manifest.includes(`"holdpoint": "file:${env.HOLDPOINT}"`), manifest);
  const dev = await startDev(target);
  t.after(() => stop(dev));
  const output = execFileSync("bash", ["-ec", run], { cwd: target, env, encoding: "utf8" });
  assert.match(output, /\npaused\n/);
  assert.match(output, /npx holdpoint inbox approve [0-9a-f]+/);
});
