// Tests of the graphs' environment: graph-environment.1 removes secrets, graph-environment.2 passes named variables,
// graph-environment.3 removes all others if there is a list.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setGraphEnvironment, type GraphEnvironmentRules } from "./graph-environment.ts";
import { productSecrets } from "./host.ts";

const { tables, secrets } = await productSecrets();
const NOTHING: GraphEnvironmentRules["graphs"] = { env: {}, envNames: [], webhookVariables: [] };

function left(env: Readonly<Record<string, string>>, rules: Partial<GraphEnvironmentRules> = {}): object {
  const environment = { ...env };
  setGraphEnvironment(environment, { listed: null, tables, secrets, graphs: NOTHING, ...rules });
  return environment;
}

test("every secret of the product's settings is removed, whichever part reads it (graph-environment.1)", () => {
  const own = tables.flatMap((table) => Object.values(table).filter(({ secret }) => secret));
  const shared = new Set(["HTTPS_PROXY"]);
  const names = own.map(({ name }) => name).filter((name) => !shared.has(name));
  assert.ok(names.length >= 7, names.join());
  const given = [...names.flatMap((name) => [name, `${name}_FILE`]), ...secrets];
  const env = Object.fromEntries(given.map((name) => [name, "x"]));
  assert.deepEqual(left({ ...env, HOLDPOINT_ANYTHING: "x", OPENAI_API_KEY: "k", PATH: "p" }), {
    OPENAI_API_KEY: "k",
    PATH: "p",
  });
});

test("an alias is removed if the server's value comes from it, and otherwise belongs to the graphs (graph-environment.1)", () => {
  assert.deepEqual(left({ DATABASE_URL: "server" }), {});
  assert.deepEqual(left({ DATABASE_URI: "server", DATABASE_URL: "graph" }), { DATABASE_URL: "graph" });
  assert.deepEqual(left({ DATABASE_URL_FILE: "/server" }), {});
});

test("variables that libraries of graphs read by convention stay (graph-environment.1)", () => {
  const shared = { HTTPS_PROXY: "http://proxy", LANGSMITH_API_KEY: "k", LANGSMITH_TRACING: "true", PORT: "1" };
  assert.deepEqual(left({ ...shared, TRACING_API_KEY: "out" }), shared);
});

test("variables for webhook headers are removed, also those of an env file (graph-environment.1)", () => {
  const graphs = { ...NOTHING, env: { LG_WEBHOOK_KEY: "f", MODEL: "m" }, webhookVariables: ["LG_WEBHOOK_KEY"] };
  assert.deepEqual(left({ LG_WEBHOOK_KEY: "e" }, { graphs }), { MODEL: "m" });
});

test("named variables are passed on, and those of the process win over those of a file (graph-environment.2)", () => {
  const env = { DATABASE_URI: "d", LG_WEBHOOK_KEY: "w", MODEL: "process" };
  const graphs = { env: { MODEL: "file" }, envNames: ["DATABASE_URI"], webhookVariables: ["LG_WEBHOOK_KEY"] };
  assert.deepEqual(left(env, { graphs }), { DATABASE_URI: "d", MODEL: "process" });
  assert.deepEqual(left(env, { listed: ["LG_WEBHOOK_KEY"], graphs: { ...graphs, envNames: [] } }), {
    LG_WEBHOOK_KEY: "w",
    MODEL: "file",
  });
});

test("with a list only it and the machine's basic variables remain; a pattern matches no secret (graph-environment.3)", () => {
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
