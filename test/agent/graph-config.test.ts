// Tests of LANGGRAPH_CONFIG as JSON: new built-in assistants use it, and stored ones stay (assistant-defaults.1);
// invalid JSON stops the start; a path stays a path.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { assistantDefaults, graphConfigFile } from "@holdpoint/server/model/assistant-defaults.ts";
import { NotStarted, startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, TEST_GRAPHS, temporaryFolder } from "../harness/server.ts";

const dataDir = temporaryFolder();
after(() => removeFolder(dataDir));

const DEFAULTS = { keeper: { configurable: { model: "small" }, tags: ["env"], context: { tenant: "a" } } };

async function keeperWith(config: object) {
  const server = await startServerHere({
    config: TEST_GRAPHS,
    dataDir,
    env: { LANGGRAPH_CONFIG: JSON.stringify(config) },
  });
  try {
    const run = await call(server, "POST", "/runs/wait", { assistant_id: "keeper", input: {} });
    const { body } = await call(server, "GET", "/assistants/keeper");
    const assistant = body as { readonly config: object; readonly context: object };
    return { seen: (run.body as { readonly seen: { readonly model?: string } }).seen, assistant };
  } finally {
    await server.stop();
  }
}

test("JSON sets the config and context of built-in assistants, once (assistant-defaults.1)", async () => {
  const { seen, assistant } = await keeperWith(DEFAULTS);
  assert.deepEqual(assistant.config, { configurable: { model: "small" }, tags: ["env"] });
  assert.deepEqual(assistant.context, { tenant: "a" });
  assert.equal(seen.model, "small");
  assert.equal((await keeperWith({ keeper: { configurable: { model: "big" } } })).seen.model, "small");
});

const WRONG = ["{", '{"keeper": 1}', '{"keeper": {"context": []}}', '{"keeper": {"configurable": "x"}}'];
for (const text of WRONG)
  test(`${text} stops the start, and names the variable (assistant-defaults.1)`, async () => {
    const server = startServerHere({ config: TEST_GRAPHS, env: { LANGGRAPH_CONFIG: text } });
    await assert.rejects(
      server,
      (error: Error) => /LANGGRAPH_CONFIG/.test(error.message) || error instanceof NotStarted,
    );
  });

test("env of langgraph.json sets them too; the variable of the process wins (assistant-defaults.2)", async (t) => {
  const keeper = join(dirname(TEST_GRAPHS), "shapes.ts");
  const folder = temporaryFolder();
  t.after(() => removeFolder(folder));
  const config = join(folder, "langgraph.json");
  const write = (text: string): void =>
    writeFileSync(config, JSON.stringify({ graphs: { keeper: `${keeper}:keeper` }, env: { LANGGRAPH_CONFIG: text } }));
  const configured = async (env: Readonly<Record<string, string>>): Promise<object> => {
    const server = await startServerHere({ config, dataDir: temporaryFolder(), env });
    t.after(() => removeFolder(server.dataDir));
    const { body } = await call(server, "GET", "/assistants/keeper");
    await server.stop();
    return (body as { readonly config: object }).config;
  };
  write(JSON.stringify(DEFAULTS));
  assert.deepEqual(await configured({}), { configurable: { model: "small" }, tags: ["env"] });
  const own = JSON.stringify({ keeper: { configurable: { model: "big" } } });
  assert.deepEqual(await configured({ LANGGRAPH_CONFIG: own }), { configurable: { model: "big" } });
  write("{");
  await assert.rejects(configured({}), /LANGGRAPH_CONFIG: begins with \{/);
});

test("a path stays a path (assistant-defaults.1)", () => {
  assert.deepEqual([...assistantDefaults("./a/langgraph.json")], []);
  assert.equal(graphConfigFile("./a/langgraph.json"), "./a/langgraph.json");
  assert.equal(graphConfigFile(' {"agent": {}}'), "langgraph.json");
});
