// Files of ours against the schemas and linters of the formats' owners.
//   schemas.1. Kubernetes manifests and the Compose file fit their schemas, and have no unknown member.
//   schemas.2. The workflows are valid for the parser of GitHub's own language server, and call scripts that exist.
//   schemas.3. Redocly's recommended rules find no error and no warning in the OpenAPI document, with and without a
//        prefix.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { parse, parseAllDocuments } from "yaml";
import * as z from "zod";
import { openApiDocument } from "@holdpoint/api/openapi/document.ts";
import { everyOperation } from "../project/operations.ts";
import { ROOT } from "../project/source-files.ts";
import { loadSchemas, SCHEMA_MODULES } from "./schemas.ts";

const DEPLOY = join(ROOT, "deploy");

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

const readManifests = (source: string): Manifest[] =>
  parseAllDocuments(source, { merge: true }).map((document) => document.toJS() as Manifest);
const manifests = readdirSync(join(DEPLOY, "kubernetes"))
  .filter((name) => name !== "kustomization.yaml")
  .flatMap((name) => readManifests(readFileSync(join(DEPLOY, "kubernetes", name), "utf8")));
const compose = parse(readFileSync(join(DEPLOY, "compose.yaml"), "utf8"), { merge: true }) as {
  readonly name: string;
  readonly services: Readonly<Record<string, object>>;
};

/** The schema's errors of one manifest; the compiler reports unknown members. */
async function manifestFaults(list: readonly Manifest[]): Promise<string[]> {
  const { kinds } = await loadSchemas();
  const faults: string[] = [];
  const lines = ["export const all: readonly unknown[] = [];"];
  for (const [at, manifest] of list.entries()) {
    const Kind = kinds[manifest.kind];
    assert.ok(Kind !== undefined, `no schema for ${manifest.kind}`);
    try {
      new Kind(manifest).validate();
    } catch (error) {
      faults.push(String(error));
    }
    const place = manifest.apiVersion === "v1" ? "kubernetes-models/v1" : `kubernetes-models/${manifest.apiVersion}`;
    lines.push(`import type { I${manifest.kind} as I${at} } from "${place}";`);
    lines.push(`export const manifest${at}: I${at} = ${JSON.stringify(manifest)};`);
  }
  const folder = await mkdtemp(join(tmpdir(), "holdpoint-deploy-"));
  try {
    await symlink(SCHEMA_MODULES, join(folder, "node_modules"));
    await writeFile(join(folder, "manifests.mts"), lines.join("\n"));
    const options = [
      "--noEmit",
      "--strict",
      "--skipLibCheck",
      "--module",
      "nodenext",
      "--target",
      "esnext",
      "--types",
      "",
    ];
    const tsc = join(ROOT, "node_modules/.bin/tsc");
    await new Promise<void>((resolve) => {
      execFile(tsc, [...options, "manifests.mts"], { cwd: folder }, (error, out) => {
        if (error !== null) faults.push(out);
        resolve();
      });
    });
  } finally {
    await rm(folder, { recursive: true });
  }
  return faults;
}

test("every Kubernetes manifest fits its schema (schemas.1)", async () => {
  assert.ok(manifests.length > 10);
  assert.deepEqual(await manifestFaults(manifests), []);
});

test("a wrong value, a missing member and an unknown member of a manifest are seen (schemas.1)", async () => {
  const wrong = (spec: string): Manifest[] =>
    readManifests(`{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: x}, spec: ${spec}}`);
  const service = (spec: string): Manifest[] =>
    readManifests(`{apiVersion: v1, kind: Service, metadata: {name: x}, spec: ${spec}}`);
  for (const list of [
    wrong("{maxUnavailable: {}}"),
    service("{ports: [{}]}"),
    service("{ports: [{port: 1, targetprt: 2}]}"),
  ]) {
    assert.notDeepEqual(await manifestFaults(list), []);
  }
});

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
