// The images, as their Dockerfiles make them, without an engine. Checked:
//   image.1. The files that the COPY lines and the ignore rules let in are enough for every RUN step.
//   image.2. The result serves the samples as user 1000 on a read-only root.
//   image.3. `holdpoint new` in it makes the whole template.
//   image.4. What tests and installations leave in a clone is in no image.
//   image.5. deploy/project.Dockerfile makes an image of a project with its locked packages, which serves its graph.
// The long form installs what `npm ci` in a Dockerfile does, and has image.5. The short one takes the packages of the
// clone.
import assert from "node:assert/strict";
import { type ChildProcess, execFile } from "node:child_process";
import { once } from "node:events";
import { chownSync, cpSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { listContext } from "../harness/image/dockerfile.ts";
import { buildImage, type Image, missingImages, startImage } from "../harness/image/image.ts";
import { IS_LONG } from "../harness/long.ts";
import { removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";
import { buildPackage } from "./build-package.ts";

const folder = temporaryFolder();
const DEPLOY = join(ROOT, "deploy");
const IGNORE = readFileSync(join(DEPLOY, "Dockerfile.dockerignore"), "utf8");
const PROJECT_IGNORE = ["node_modules", ".git", ".env", ".holdpoint"].join("\n");
const KEY = "alice:a-key-of-alice-that-is-long-enough";
let image: Image;

function makeFolder(name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  chownSync(path, 1000, 1000);
  return path;
}

before(async () => {
  if (missingImages !== false) return;
  const stages = join(folder, "stages");
  mkdirSync(stages);
  const dockerfile = join(DEPLOY, "Dockerfile");
  const packages = IS_LONG ? null : join(ROOT, "node_modules");
  image = await buildImage({ dockerfile, ignore: IGNORE, context: ROOT, images: {}, folder: stages, packages });
});
after(() => removeFolder(folder));

async function end(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

/** Starts it, asks /ok, and lets a graph pause and go on. */
async function serveOnce(from: Image, args: readonly string[], resume: unknown): Promise<void> {
  const env = { PORT: "0", LOG_JSON: "true", LOG_LEVEL: "info", HOLDPOINT_API_KEYS: KEY };
  const child = startImage(from, { args, env, volumes: { "/data": makeFolder(`data-of-${args.length}`) } });
  try {
    const exited = once(child, "exit");
    const url = await new Promise<string>((resolve, reject) => {
      let output = "";
      void exited.then(() => reject(new Error(output)));
      createInterface({ input: child.stderr ?? assert.fail() }).on("line", (line) => {
        output += `${line}\n`;
        const [, port] = /"event":"listening".*"url":"http:\/\/[^"]*:(\d+)"/.exec(line) ?? [];
        if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
      });
    });
    const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
    assert.match(status, /^Uid:\s+1000\s+1000\s+1000\s+1000$/m);
    assert.equal((await fetch(`${url}/ok`)).status, 200);
    const post = async (path: string, body: object): Promise<Readonly<Record<string, unknown>>> => {
      const headers = { "content-type": "application/json", "x-api-key": KEY.slice("alice:".length) };
      const reply = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
      assert.equal(reply.status, 200, await reply.clone().text());
      return (await reply.json()) as Readonly<Record<string, unknown>>;
    };
    const { thread_id: id } = await post("/threads", {});
    const wait = `/threads/${String(id)}/runs/wait`;
    const input = { messages: [{ role: "user", content: "Say that it is out" }] };
    const asked = await post(wait, { assistant_id: "agent", input });
    assert.ok(Array.isArray(asked["__interrupt__"]), JSON.stringify(asked));
    const done = await post(wait, { assistant_id: "agent", command: { resume } });
    assert.ok(!("__interrupt__" in done) && !("__error__" in done), JSON.stringify(done));
    child.kill("SIGTERM");
    assert.equal((await exited)[0], 0);
  } finally {
    await end(child);
  }
}

test("nothing that tests and installations leave in a clone reaches an image (image.4)", () => {
  const context = listContext(ROOT, IGNORE);
  const left = context.filter((file) =>
    /(^|\/)(node_modules|\.holdpoint|package|dist|\.pages|__pycache__)\//.test(file),
  );
  assert.deepEqual(left, []);
});

test("the image serves its samples as user 1000 on a read-only root (image.1, image.2)", { skip: missingImages }, () =>
  serveOnce(image, ["serve", "--config", "/holdpoint/examples/langgraph.json"], "yes"),
);

async function makeProject(): Promise<string> {
  const home = makeFolder("projects");
  const made = startImage(image, { args: ["new", "my-agent"], volumes: { "/app": home, "/data": makeFolder("data") } });
  assert.equal((await once(made, "exit"))[0], 0);
  return join(home, "my-agent");
}

/** The packed Holdpoint lies in the folder, because it is in no registry yet. */
async function lockPackages(project: string): Promise<void> {
  await buildPackage();
  const [packed = assert.fail("holdpoint is not packed")] = globSync("dist/packages/holdpoint-[0-9]*.tgz", {
    cwd: ROOT,
  });
  cpSync(join(ROOT, packed), join(project, basename(packed)));
  const manifest = join(project, "package.json");
  const made = JSON.parse(readFileSync(manifest, "utf8")) as { readonly dependencies: object };
  const dependencies = { ...made.dependencies, holdpoint: `file:${basename(packed)}` };
  writeFileSync(manifest, JSON.stringify({ ...made, dependencies }));
  await promisify(execFile)("npm", ["install", "--package-lock-only", "--ignore-scripts", "--no-audit"], {
    cwd: project,
  });
}

test(
  `a project made in the image has the whole template${IS_LONG ? ", and becomes an image (image.3, image.5)" : " (image.3)"}`,
  {
    skip: missingImages,
  },
  async () => {
    const project = await makeProject();
    const template = readdirSync(join(ROOT, "packages/holdpoint/src/cli/template")).map((name) =>
      name === "gitignore" ? ".gitignore" : name,
    );
    assert.deepEqual(readdirSync(project).toSorted(), template.toSorted());

    if (!IS_LONG) return;
    await lockPackages(project);
    const stages = join(folder, "project-stages");
    mkdirSync(stages);
    const built = await buildImage({
      dockerfile: join(DEPLOY, "project.Dockerfile"),
      ignore: PROJECT_IGNORE,
      context: project,
      images: { holdpoint: image },
      folder: stages,
      packages: null,
    });
    await serveOnce(built, ["serve"], { decisions: [{ type: "approve" }] });
  },
);
