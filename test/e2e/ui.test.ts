// Tests of `ui` of langgraph.json, with the official bundler, which these tests install: the lock file cannot hold its
// packages for other machines. Rules:
//   ui.1. Clients get the HTML that loads a component, below the prefix, and its files.
//   ui.2. A caller's values stay inside their quotes; an unknown component is an error.
//   ui.3. `disable_ui` serves none; a project without the bundler gets the remedy.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { writeProject } from "../harness/project.ts";
import { call, removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";

const files = {
  "package.json": { type: "module" },
  "graph.ts": `
import { Annotation, StateGraph } from "@langchain/langgraph";
export const graph = new StateGraph(Annotation.Root({})).addNode("n", () => ({})).addEdge("__start__", "n").compile();
`,
  "ui/index.tsx": `
import "./styles.css";
const Forecast = ({ town }: { town: string }) => <b className="bold">Sun in {town}</b>;
export default { forecast: Forecast };
`,
  "ui/styles.css": '.bold { color: "red"; }',
};
const config = (more: object) => ({
  graphs: { agent: { path: "./graph.ts:graph", description: "shows a forecast" } },
  ui: { "my agent": "./ui/index.tsx" },
  ui_config: { shared: [] },
  ...more,
});
const folder = writeProject({
  ...files,
  "langgraph.json": config({ http: { mount_prefix: "/base" } }),
  "disabled.json": config({ http: { disable_ui: true } }),
});
const bundler = temporaryFolder();
before(async () => {
  writeFileSync(join(bundler, "package.json"), "{}");
  await promisify(execFile)(
    "npm",
    ["install", "--ignore-scripts", "--no-audit", "--no-fund", "@langchain/langgraph-ui@1.5.1"],
    { cwd: bundler },
  );
  withPackages(folder, join(bundler, "node_modules", "@langchain", "langgraph-ui"));
});
after(() => [folder, bundler].forEach(removeFolder));

/** Links this project's library, and the bundler if a path is given. */
function withPackages(project: string, ui: string | null): void {
  const scope = join(project, "node_modules", "@langchain");
  rmSync(scope);
  mkdirSync(scope);
  for (const name of ["core", "langgraph", "langgraph-checkpoint", "langgraph-sdk"])
    symlinkSync(join(ROOT, "node_modules", "@langchain", name), join(scope, name));
  if (ui !== null) symlinkSync(ui, join(scope, "langgraph-ui"));
}

test("a component is served as clients load it (ui.1, ui.2)", async () => {
  const server = await startServerHere({ config: join(folder, "langgraph.json") });
  try {
    const host = new URL(server.url).host;
    const page = await call(server, "POST", "/base/ui/my%20agent", { name: "forecast" });
    assert.equal(page.status, 200);
    assert.equal(page.headers.get("content-type"), "text/html");
    const base = `http://${host}/base/ui/my%20agent`;
    assert.deepEqual(page.text.split("\n"), [
      `<link rel="stylesheet" href="${base}/entrypoint.css" />`,
      `<script src="${base}/entrypoint.js" onload='__LGUI_my_agent.render("forecast", "{{shadowRootId}}")'></script>`,
    ]);
    const script = await fetch(`${base}/entrypoint.js`);
    assert.match(script.headers.get("content-type") ?? "", /^text\/javascript/);
    assert.match(await script.text(), /var __LGUI_my_agent =[\s\S]*Sun in/);
    assert.match(await (await fetch(`${base}/entrypoint.css`)).text(), /\.bold/);

    const hostile = await call(server, "POST", "/base/ui/my%20agent", { name: `'></script><script>alert("x")` });
    assert.equal(hostile.text.match(/<script/g)?.length, 1, "ui.2");
    assert.doesNotMatch(hostile.text.split("onload='")[1]?.split("'></script>")[0] ?? "", /['<>]/);
    assert.equal((await call(server, "POST", "/base/ui/other", { name: "forecast" })).status, 404);
    assert.equal((await call(server, "POST", "/base/ui/my%20agent", {})).status, 422);
    assert.equal((await fetch(`${base}/..%2findex.tsx`)).status, 404);
  } finally {
    await server.stop();
  }
});

test("disable_ui serves none (ui.3)", async () => {
  const server = await startServerHere({ config: join(folder, "disabled.json") });
  try {
    assert.equal((await call(server, "POST", "/ui/my%20agent", { name: "forecast" })).status, 404);
  } finally {
    await server.stop();
  }
});

test("without the bundler, the start is refused with the remedy (ui.3)", async () => {
  const bare = writeProject({ ...files, "langgraph.json": config({}) });
  withPackages(bare, null);
  await assert.rejects(
    startServerHere({ config: join(bare, "langgraph.json") }),
    /ui: the bundler is not installed: run npm install @langchain\/langgraph-ui/,
  );
  removeFolder(bare);
});
