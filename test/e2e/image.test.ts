// The images, as their Dockerfiles make them, without an engine. Checked:
//   image.1. The files that the COPY lines and the ignore rules let in are enough for every RUN step.
//   image.2. The result serves the samples as user 1000 on a read-only root.
//   image.3. `holdpoint new` in it makes the whole template.
//   image.4. What tests and installations leave in a clone is in no image.
import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { listContext } from "../harness/image/dockerfile.ts";
import { buildImage, type Image, missingImages, startImage } from "../harness/image/image.ts";
import { removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";

const folder = temporaryFolder();
const DEPLOY = join(ROOT, "deploy");
const IGNORE = readFileSync(join(DEPLOY, "Dockerfile.dockerignore"), "utf8");
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
  image = await buildImage({ dockerfile, ignore: IGNORE, context: ROOT, images: {}, folder: stages });
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
  const left = listContext(ROOT, IGNORE).filter((file) => /(^|\/)(node_modules|\.holdpoint|package|dist)\//.test(file));
  assert.deepEqual(left, []);
});

test("the image serves its samples as user 1000 on a read-only root (image.1, image.2)", { skip: missingImages }, () =>
  serveOnce(image, ["serve", "--config", "/holdpoint/examples/langgraph.json"], "yes"),
);

test("a project made in the image has the whole template (image.3)", { skip: missingImages }, async () => {
  const home = makeFolder("projects");
  const made = startImage(image, { args: ["new", "my-agent"], volumes: { "/app": home, "/data": makeFolder("data") } });
  assert.equal((await once(made, "exit"))[0], 0);
  const project = join(home, "my-agent");
  const template = readdirSync(join(ROOT, "src/cli/template")).map((name) =>
    name === "gitignore" ? ".gitignore" : name,
  );
  assert.deepEqual(readdirSync(project).toSorted(), template.toSorted());
});
