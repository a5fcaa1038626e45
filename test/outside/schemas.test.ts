// Files of ours against the schemas and linters of the formats' owners.
//   schemas.1. The Compose file fits its schema, and has no unknown member. chart.test.ts has the Kubernetes manifests.
//   schemas.2. The workflows are valid for the parser of GitHub's own language server, and call scripts that exist.
//   schemas.3. Redocly's recommended rules find no error and no warning in the OpenAPI document, with and without a
//        prefix.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import * as z from "zod";
import { openApiDocument } from "@holdpoint/api/docs-page/document.ts";
import { everyOperation } from "../project/operations.ts";
import { ROOT } from "../project/source-files.ts";
import { loadSchemas } from "./schemas.ts";

const DEPLOY = join(ROOT, "deploy");

const compose = parse(readFileSync(join(DEPLOY, "compose.yaml"), "utf8"), { merge: true }) as {
  readonly name: string;
  readonly services: Readonly<Record<string, object>>;
};

test("the Compose file fits its schema, and a wrong member is seen (schemas.1)", async () => {
  const { composeSchema } = await loadSchemas();
  const newer = JSON.stringify(composeSchema)
    .replaceAll("#/definitions/", "#/$defs/")
    .replace('"definitions":', '"$defs":')
    .replaceAll(',"format":"duration"', ""); // Go's, not that of ISO 8601
  const { $schema: _older, ...rest } = JSON.parse(newer) as Readonly<Record<string, unknown>>;
  const schema = z.fromJSONSchema(rest);
  const { name: _newer, ...known } = compose; // the schema is older than this member
  assert.equal(schema.safeParse(known).error?.message, undefined);
  const services = { ...known.services, api: { ...known.services["api"], comand: ["serve"] } };
  assert.equal(schema.safeParse({ ...known, services }).success, false);
});

const workflows = globSync(".github/workflows/*.yml", { cwd: ROOT });

/** Errors of the parser of GitHub's own language server. */
async function workflowFaults(name: string, content: string): Promise<readonly string[]> {
  const { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } = (await loadSchemas()).workflows;
  const trace = new NoOperationTraceWriter();
  const { context, value } = parseWorkflow({ name, content }, trace);
  if (value !== undefined) await convertWorkflowTemplate(context, value);
  return context.errors.getErrors().map(({ message }) => message);
}

test("the workflows are valid, and call scripts that exist (schemas.2)", async () => {
  assert.ok(workflows.length >= 2, workflows.join());
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { readonly scripts: object };
  for (const path of workflows) {
    const content = readFileSync(join(ROOT, path), "utf8");
    assert.deepEqual(await workflowFaults(path, content), [], path);
    for (const [, script = ""] of content.matchAll(/npm run ([\w:-]+)/g)) assert.ok(script in scripts, script);
  }
  const broken = "on: push\njobs:\n  a:\n    runs-on: x\n    step:\n      - run: ${{ nothing.here }}\n";
  assert.notDeepEqual(await workflowFaults("broken.yml", broken), []);
});

test("redocly finds nothing to object to (schemas.3)", async () => {
  const { createConfig, lintFromString } = (await loadSchemas()).redocly;
  const config = await createConfig({
    extends: ["recommended"],
    rules: {
      "no-ambiguous-paths": "off", // the reference's API has both /runs/crons and /runs/{run_id}
      "operation-2xx-response": "off", // a WebSocket begins with 101
      "operation-4xx-response": "off", // health checks reject no caller
    },
  });
  for (const prefix of ["", "/agents"]) {
    const source = JSON.stringify(openApiDocument(await everyOperation(), "0.0.0", prefix));
    const problems = await lintFromString({ source, absoluteRef: "openapi.json", config });
    const said = problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`);
    assert.deepEqual([...new Set(said)].slice(0, 20), []);
  }
});
