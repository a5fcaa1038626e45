// Tests of loading graphs: load-graph.1, every failure names graph, file, export and cause; load-graph.2, every valid
// kind of export.
// Each case runs in a project with `"type": "module"` and in one without it, with the same result.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { GraphLoadError, loadGraph } from "./load-graph.ts";

const folder = mkdtempSync(join(tmpdir(), "holdpoint-load-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** LangGraph does not resolve from the temporary folder: modules there import it by this URL. */
const library = JSON.stringify(import.meta.resolve("@langchain/langgraph"));
const row = `
import { Annotation, StateGraph } from ${library};
const row = () => new StateGraph(Annotation.Root({ a: Annotation() }))
  .addNode("n", () => ({ a: 1 })).addEdge("__start__", "n").addEdge("n", "__end__");
`;

const PROJECTS = [
  { kind: "module", packageJson: { type: "module" } },
  { kind: "without a type", packageJson: {} },
].map(({ kind, packageJson }, index) => {
  const root = join(folder, `project-${index}`);
  mkdirSync(root);
  writeFileSync(join(root, "package.json"), JSON.stringify(packageJson));
  return { kind, root };
});

let files = 0;
async function load(root: string, content: string, exportName: string, ending = "ts") {
  const file = join(root, `graph-${++files}.${ending}`);
  writeFileSync(file, content);
  return loadGraph({ graphId: "my_graph", file, exportName, description: null }, root);
}

const LOADED: readonly { readonly name: string; readonly code: string; readonly ending?: string }[] = [
  { name: "a compiled graph", code: "export const graph = row().compile();" },
  { name: "a graph to compile", code: "export const graph = row();" },
  { name: "a graph factory", code: "export const graph = () => row();" },
  {
    name: "an async factory that compiles its graph",
    code: "export async function graph() { return row().compile(); }",
  },
  {
    name: "a factory that reads its config",
    code: "export const graph = ({ configurable }) => configurable && row();",
    ending: "js",
  },
  { name: "a promise of a graph", code: "export const graph = Promise.resolve(row());" },
  { name: "a wrapper around a graph", code: "export const graph = { graph: row().compile() };" },
  { name: "types that Node strips", code: "export const graph: unknown = row() as unknown;" },
  { name: "an .mjs file", code: "export const graph = row();", ending: "mjs" },
  { name: "an .mts file", code: "export const graph: object = row();", ending: "mts" },
];

for (const { kind, root } of PROJECTS) {
  for (const { name, code, ending } of LOADED) {
    test(`${name} loads (load-graph.2; ${kind})`, async () => {
      const { graphId, graph } = await load(root, row + code, "graph", ending);
      assert.equal(graphId, "my_graph");
      assert.deepEqual(Object.keys(graph.nodes), ["__start__", "n"]);
    });
  }

  test(`the name default loads the default export (load-graph.2; ${kind})`, async () => {
    const { graph } = await load(root, `${row} export default row();`, "default");
    assert.ok("n" in graph.nodes);
  });
}

const FAILING: readonly {
  readonly name: string;
  readonly code: string;
  readonly exportName?: string;
  readonly cause: RegExp;
}[] = [
  {
    name: "a missing export",
    code: "export const agent = 1, other = 2;",
    cause: /no such export \(it has agent, other\)/,
  },
  { name: "a file that exports nothing", code: "", cause: /no such export \(it has nothing\)/ },
  { name: "no default export", code: "", exportName: "default", cause: /no such export \(it has nothing\)/ },
  { name: "a syntax error", code: "\nexport const graph = ;", cause: /SyntaxError: .* \(graph-\d+\.ts:2\)$/ },
  {
    name: "an error while the file runs",
    code: "\nthrow new RangeError('at import');",
    cause: /RangeError: at import \(graph-\d+\.ts:2\)$/,
  },
  {
    name: "a missing package",
    code: "import 'not-installed-here'; export const graph = 1;",
    cause: /not-installed-here/,
  },
  {
    name: "a factory that throws",
    code: "export const graph = () => { throw new TypeError('no key'); };",
    cause: /the function threw TypeError: no key/,
  },
  {
    name: "a factory that rejects",
    code: "export const graph = async () => { throw 'a text'; };",
    cause: /the function threw Error: a text/,
  },
  { name: "a number", code: "export const graph = 1;", cause: /the export is a value of type number, neither/ },
  { name: "null", code: "export const graph = null;", cause: /the export is null, neither/ },
  {
    name: "a factory that returns nothing",
    code: "export const graph = () => undefined;",
    cause: /the function returned undefined, neither/,
  },
  {
    name: "a graph that does not compile",
    code: `${row} export const graph = row().addEdge('n', 'nowhere');`,
    cause: /compiling it threw .*nowhere/,
  },
];

for (const { kind, root } of PROJECTS)
  for (const { name, code, exportName = "graph", cause } of FAILING) {
    test(`${name} fails with graph, file, export and cause (load-graph.1; ${kind})`, async () => {
      await assert.rejects(load(root, code, exportName), (error) => {
        assert.ok(error instanceof GraphLoadError);
        assert.match(error.message, /^graph "my_graph" \(.*graph-\d+\.ts(, export (graph|default))?\) does not load: /);
        assert.match(error.message, cause);
        return true;
      });
    });
  }

test("the error of a missing file has its name (load-graph.1)", async () => {
  const source = { graphId: "g", file: join(folder, "none.ts"), exportName: "graph", description: null };
  await assert.rejects(loadGraph(source, folder), (error) => {
    assert.ok(error instanceof GraphLoadError);
    assert.match(error.message, /none\.ts, export graph\) does not load: the file does not exist: correct its path/);
    return true;
  });
});
