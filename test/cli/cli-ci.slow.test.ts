// The jobs of docs/how-to/ci.md, as they are on the page: they deploy what a person decided, and nothing otherwise.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { parse } from "yaml";
import { startFakeRequests } from "../fakes/requests.ts";
import { writeFiles } from "../harness/project.ts";
import { removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";

const page = readFileSync(join(ROOT, "docs/how-to/ci.md"), "utf8");
const [github, gitlab] = [...page.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, block = ""]) => parse(block) as unknown);
const approval = (github as { jobs: { deploy: { steps: { run: string }[] } } }).jobs.deploy.steps.at(-1)?.run ?? "";
const choice = (gitlab as { deploy: { script: string[] } }).deploy.script.at(-1) ?? "";

const folder = temporaryFolder();
after(() => removeFolder(folder));
const main = join(ROOT, "packages/holdpoint/src/main.ts");
writeFiles(folder, {
  npx: `#!/bin/sh\nshift\nexec "${process.execPath}" "${main}" "$@"\n`,
  "deploy.sh": '#!/bin/sh\necho "deployed $1"\n',
});
for (const file of ["npx", "deploy.sh"]) chmodSync(join(folder, file), 0o755);

const answered = (answer: unknown): object => ({ status: "answered", answer });
const decided = (type: string): object => answered({ decisions: [{ type }] });
const ENDS: readonly (readonly [job: string, script: string, end: object, code: number, printed: string])[] = [
  ["GitHub", approval, decided("approve"), 0, "deployed v1\n"],
  ["GitHub", approval, decided("reject"), 1, ""],
  ["GitHub", approval, { status: "expired" }, 3, ""],
  ["GitLab", choice, answered("staging"), 0, "deployed staging\n"],
  ["GitLab", choice, answered("production"), 0, "deployed production\n"],
  ["GitLab", choice, answered("nowhere"), 1, ""],
  ["GitLab", choice, { status: "expired" }, 1, ""],
];
for (const [job, script, end, code, printed] of ENDS)
  test(`the job of ${job} ends with ${code} after ${JSON.stringify(end)}`, async (t) => {
    const server = await startFakeRequests();
    t.after(() => {
      server.close();
      assert.deepEqual(server.violations, []);
    });
    const child = spawn("bash", ["-e", "-c", script], {
      cwd: folder,
      env: {
        PATH: `${folder}:${process.env["PATH"]}`,
        HOLDPOINT_URL: server.url,
        GITHUB_REPOSITORY: "acme/shop",
        GITHUB_REF_NAME: "v1",
        CI_PROJECT_PATH: "acme/shop",
        CI_COMMIT_TAG: "v1",
      },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [out, exited] = [text(child.stdout), once(child, "exit")];
    await Promise.race([server.opened(1), exited]);
    server.end(0, { ...end });
    assert.deepEqual([await exited, await out], [[code, null], printed]);
    assert.equal(server.kept[0]?.key, "deploy-acme/shop-v1");
  });
