// Tests of the environment that graphs see. Checked: graph-environment.1 secrets are out, graph-environment.2 what is named is in, graph-environment.3 with a list nothing
// else is.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setGraphEnvironment, type GraphEnvironmentRules } from "./graph-environment.ts";
import { productTables } from "./host.ts";

const tables = await productTables();
const NOTHING: GraphEnvironmentRules["graphs"] = { env: {}, envNames: [], webhookVariables: [] };

function left(env: Readonly<Record<string, string>>, rules: Partial<GraphEnvironmentRules> = {}): object {
  const environment = { ...env };
  setGraphEnvironment(environment, { listed: null, tables, graphs: NOTHING, ...rules });
  return environment;
}

test("every secret of the product's settings is out, whichever part reads it (graph-environment.1)", () => {
  const secrets = tables.flatMap((table) => Object.values(table).filter(({ secret }) => secret));
  const shared = new Set(["HTTPS_PROXY"]);
  const names = secrets.map(({ name }) => name).filter((name) => !shared.has(name));
  assert.ok(names.length >= 7, names.join());
  const env = Object.fromEntries(
    names.flatMap((name) => [
      [name, "x"],
      [`${name}_FILE`, "/x"],
    ]),
  );
  assert.deepEqual(left({ ...env, HOLDPOINT_ANYTHING: "x", OPENAI_API_KEY: "k", PATH: "p" }), {
    OPENAI_API_KEY: "k",
    PATH: "p",
  });
});

test("an alias is out when the server has its value from it, and is somebody else's otherwise (graph-environment.1)", () => {
  assert.deepEqual(left({ DATABASE_URL: "server" }), {});
  assert.deepEqual(left({ DATABASE_URI: "server", DATABASE_URL: "graph" }), { DATABASE_URL: "graph" });
  assert.deepEqual(left({ DATABASE_URL_FILE: "/server" }), {});
});

test("what libraries of graphs read by convention stays (graph-environment.1)", () => {
  const shared = { HTTPS_PROXY: "http://proxy", LANGSMITH_API_KEY: "k", LANGSMITH_TRACING: "true", PORT: "1" };
  assert.deepEqual(left({ ...shared, TRACING_API_KEY: "out" }), shared);
});

test("variables that headers of webhooks are filled from are out, from a file of variables too (graph-environment.1)", () => {
  const graphs = { ...NOTHING, env: { LG_WEBHOOK_KEY: "f", MODEL: "m" }, webhookVariables: ["LG_WEBHOOK_KEY"] };
  assert.deepEqual(left({ LG_WEBHOOK_KEY: "e" }, { graphs }), { MODEL: "m" });
});

test("what the deployment names is passed on, and variables of the process win over those of a file (graph-environment.2)", () => {
  const env = { DATABASE_URI: "d", LG_WEBHOOK_KEY: "w", MODEL: "process" };
  const graphs = { env: { MODEL: "file" }, envNames: ["DATABASE_URI"], webhookVariables: ["LG_WEBHOOK_KEY"] };
  assert.deepEqual(left(env, { graphs }), { DATABASE_URI: "d", MODEL: "process" });
  assert.deepEqual(left(env, { listed: ["LG_WEBHOOK_KEY"], graphs: { ...graphs, envNames: [] } }), {
    LG_WEBHOOK_KEY: "w",
    MODEL: "file",
  });
});

test("with a list nothing else is passed on but what the machine needs; a pattern names no secret (graph-environment.3)", () => {
  const env = { PATH: "p", LC_ALL: "C", OPENAI_API_KEY: "k", AWS_REGION: "r", AWS_SECRET_ACCESS_KEY: "s", OTHER: "o" };
  assert.deepEqual(left(env, { listed: ["OPENAI_API_KEY"] }), { PATH: "p", LC_ALL: "C", OPENAI_API_KEY: "k" });
  assert.deepEqual(left(env, { listed: ["AWS_*"] }), {
    PATH: "p",
    LC_ALL: "C",
    AWS_REGION: "r",
    AWS_SECRET_ACCESS_KEY: "s",
  });
  assert.deepEqual(left({ INGEST_TOKEN: "t", HOLDPOINT_API_KEYS: "k", OTHER: "o" }, { listed: ["*"] }), { OTHER: "o" });
});
