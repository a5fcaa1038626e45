// Tests of building a page, with a builder that counts: page-build.1, page-build.2; one build for concurrent requests;
// failures.
import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, suite, test } from "node:test";
import { ApiError } from "../../api-error.ts";
import { createLog } from "../../log/log.ts";
import { createPageBuild, type PageSources } from "./page-build.ts";

const log = createLog({ level: "error", json: true, secrets: [], now: Date.now, write: () => undefined });

let folder: string;
let page: PageSources;

const runs = (): number => (existsSync(join(folder, "runs")) ? readFileSync(join(folder, "runs"), "utf8").length : 0);
const built = async (): Promise<string> => readFileSync(join(await createPageBuild(page, log)(), "index.html"), "utf8");

// Hooks of a file would run for the tests of every file in its process.
suite("a page is built", () => {
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "holdpoint-page-"));
    page = {
      sources: join(folder, "sources"),
      besides: [join(folder, "lock.json")],
      shipped: join(folder, "shipped"),
      cache: join(folder, "cache"),
      builder: join(folder, "builder.mjs"),
    };
    mkdirSync(page.sources);
    writeFileSync(join(page.sources, "a.ts"), "one");
    // Copies a source, and leaves a mark for each run.
    writeFileSync(
      page.builder,
      `import { appendFileSync, copyFileSync } from "node:fs";
     appendFileSync(${JSON.stringify(join(folder, "runs"))}, ".");
     copyFileSync(${JSON.stringify(join(page.sources, "a.ts"))}, process.argv[2] + "/index.html");`,
    );
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test("concurrent requests share one build, now and after a restart", async () => {
    const find = createPageBuild(page, log);
    const [one, two] = await Promise.all([find(), find()]);
    assert.equal(one, two);
    assert.equal(await built(), "one");
    assert.equal(runs(), 1);
  });

  test("a changed source or lock file causes a new build; a changed test does not (page-build.1)", async () => {
    await built();
    writeFileSync(join(page.sources, "a.test.ts"), "a test");
    await built();
    assert.equal(runs(), 1);
    writeFileSync(join(page.sources, "a.ts"), "two");
    assert.equal(await built(), "two");
    writeFileSync(page.besides[0] ?? "", "{}");
    await built();
    assert.equal(runs(), 3);
  });

  test("without sources, the shipped page is served and nothing is built (page-build.1)", async () => {
    rmSync(page.sources, { recursive: true });
    assert.equal(await createPageBuild(page, log)(), page.shipped);
    assert.equal(runs(), 0);
  });

  test("a failed build leaves nothing behind, and the next request tries again (page-build.2)", async () => {
    appendFileSync(page.builder, 'throw new Error("broken");');
    const find = createPageBuild(page, log);
    const refused = (error: unknown): boolean => error instanceof ApiError && error.code === "page_unavailable";
    await assert.rejects(find(), refused);
    await assert.rejects(find(), refused);
    assert.equal(runs(), 2);
    assert.deepEqual(readdirSync(page.cache), []);
  });

  test("a source that changes during the build yields no page (page-build.1)", async () => {
    appendFileSync(page.builder, `appendFileSync(${JSON.stringify(join(page.sources, "a.ts"))}, "!");`);
    await assert.rejects(createPageBuild(page, log)());
    assert.deepEqual(readdirSync(page.cache), []);
  });

  test("old results are deleted, the newest stay", async () => {
    for (const text of ["1", "2", "3", "4", "5"]) {
      writeFileSync(join(page.sources, "a.ts"), text);
      assert.equal(await built(), text);
    }
    assert.ok(readdirSync(page.cache).length <= 3);
  });
});
