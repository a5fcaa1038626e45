// Tests of the Helm chart, rendered by Helm with several sets of values.
//   chart.1. Every manifest fits its Kubernetes schema, and has no unknown member; a value that the chart does not know is
//        an error.
//   chart.2. Every variable of a pod is one of ours; secrets come from the one Secret, by the keys that the page names.
//   chart.3. Containers run without root, and write to nothing but volumes.
//   chart.4. Probes use paths of the servers, on ports of the container; the autoscaler uses a metric of ours.
//   chart.5. Everything that a manifest names by a release's name is there under that name.
//   chart.6. The version and the time to stop are those of the product.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { getLive, getReady } from "@holdpoint/api/meta.ts";
import { AGENT_SETTINGS } from "@holdpoint/server/server/settings.ts";
import { packChart } from "../../deploy/pack-chart.ts";
import { isRead } from "../project/read-variables.ts";
import { ROOT } from "../project/source-files.ts";
import { helm, listPods, readManifests, renderChart, type Manifest } from "./chart.ts";
import { loadSchemas, SCHEMA_MODULES } from "./schemas.ts";

/** The schema's errors of these manifests; the compiler reports unknown members. */
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
    const home = manifest.apiVersion.startsWith("monitoring.")
      ? "@kubernetes-models/prometheus-operator"
      : "kubernetes-models";
    lines.push(`import type { I${manifest.kind} as I${at} } from "${home}/${manifest.apiVersion}";`);
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

const EVERYTHING =
  "ingress.enabled=true,ingress.className=nginx,ingress.tlsSecret=tls,networkPolicy.enabled=true,podMonitor.enabled=true," +
  "image.pullSecrets={one},env.N_JOBS_PER_WORKER=5";
/** Values → kinds that only they make. */
const RENDERED: readonly (readonly [values: string, kinds: readonly string[]])[] = [
  ["", ["HorizontalPodAutoscaler", "StatefulSet", "ConfigMap", "Job"]],
  [EVERYTHING, ["Ingress", "NetworkPolicy", "PodMonitor"]],
  ["autoscaling=false,collector.enabled=false", ["Deployment", "Service", "PodDisruptionBudget"]],
];

test("every manifest fits its schema, with each set of values (chart.1)", async () => {
  const all = RENDERED.flatMap(([values, kinds]) => {
    const manifests = renderChart(values);
    for (const kind of kinds)
      assert.ok(
        manifests.some((one) => one.kind === kind),
        `${values}: no ${kind}`,
      );
    return manifests;
  });
  assert.ok(all.length > 30);
  assert.deepEqual(await manifestFaults(all), []);
  const { status, stdout } = helm("lint", "");
  assert.equal(status, 0, stdout);
});

test("a wrong value, a missing member and an unknown member of a manifest are seen (chart.1)", async () => {
  const budget = (spec: string): string =>
    `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: x}, spec: ${spec}}`;
  const service = (spec: string): string => `{apiVersion: v1, kind: Service, metadata: {name: x}, spec: ${spec}}`;
  for (const source of [
    budget("{maxUnavailable: {}}"),
    service("{ports: [{}]}"),
    service("{ports: [{port: 1, targetprt: 2}]}"),
  ])
    assert.notDeepEqual(await manifestFaults(readManifests(source)), []);
});

for (const values of ["colector.enabled=true", "api.minreplicas=3", "autoscaling=maybe", "worker.maxReplicas=0"])
  test(`a value that the chart does not know is an error: ${values} (chart.1)`, () => {
    const { status, stderr } = helm("template", values);
    assert.notEqual(status, 0);
    assert.match(stderr, /values don't meet the specifications/);
  });

test("every variable is a setting, and the page names each key of the Secret (chart.2)", () => {
  const page = readFileSync(join(ROOT, "docs/how-to/deploy.md"), "utf8");
  const pods = listPods(renderChart("secret=mine"));
  const variables = pods.flatMap(({ containers }) => containers.flatMap(({ env = [] }) => env));
  assert.ok(variables.length > 10);
  for (const { name, valueFrom } of variables) {
    assert.ok(isRead(name), name);
    if (valueFrom === undefined) continue;
    assert.equal(valueFrom.secretKeyRef.name, "mine");
    assert.ok(page.includes(`--from-literal=${valueFrom.secretKeyRef.key}=`), valueFrom.secretKeyRef.key);
  }
});

test("no container has root, a file system to write to, or a token (chart.3)", () => {
  const pods = listPods(renderChart());
  assert.equal(pods.length, 5);
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

test("probes ask for liveness and readiness on ports that the container names (chart.4)", () => {
  const probed = listPods(renderChart("image.repository=ours")).flatMap(({ name, containers }) =>
    containers.filter(({ image }) => image.startsWith("ours:") && !name.endsWith("-migrate")),
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

test("workers grow with a metric that servers have (chart.4)", () => {
  const scaled = renderChart().filter(({ kind }) => kind === "HorizontalPodAutoscaler");
  const names = [...JSON.stringify(scaled).matchAll(/"metric":\{"name":"(\w+)"/g)].map(([, name]) => name);
  assert.deepEqual(names, ["agent_runs_pending"]);
  const metrics = readFileSync(join(ROOT, "packages/server/src/server/metrics.ts"), "utf8");
  for (const name of names) assert.ok(metrics.includes(`"${name}"`), name);
});

test("two releases in a namespace share no name but the Secret's, and find their own parts (chart.5)", () => {
  const [one, two] = ["first", "second"].map((release) => renderChart("", release));
  const named = (list: readonly Manifest[] = []): readonly string[] =>
    list.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  assert.deepEqual(
    named(one).filter((name) => named(two).includes(name)),
    [],
  );
  const text = JSON.stringify(one);
  assert.doesNotMatch(
    text.replaceAll(/"(?:app\.kubernetes\.io\/name|image|name)":"holdpoint[^"]*"/g, ""),
    /holdpoint-/,
  );
  const config = one?.find(({ kind }) => kind === "ConfigMap")?.data?.["gateway.yaml"];
  assert.match(config ?? "", /hostname: first-collector,/);
  assert.ok(named(one).includes("Service first-collector"));
  assert.ok(text.includes('"value":"http://first-opentelemetry-collector:4318"'));
  assert.ok(named(one).includes("Service first-opentelemetry-collector"));
});

test("the file that a release publishes is the same chart (chart.6)", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "holdpoint-chart-"));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, "chart.tgz");
  packChart(file);
  const { status, stdout, stderr } = helm("template", "", "holdpoint", file);
  assert.equal(status, 0, stderr);
  assert.deepEqual(readManifests(stdout), renderChart());
});

test("the chart has the product's version, and waits longer than the grace period (chart.6)", () => {
  const chart = readFileSync(join(ROOT, "deploy/helm/Chart.yaml"), "utf8");
  const { version } = JSON.parse(readFileSync(join(ROOT, "packages/holdpoint/package.json"), "utf8")) as {
    readonly version: string;
  };
  assert.match(chart, new RegExp(`^version: ${version}\nappVersion: ${version}$`, "m"));
  const servers = listPods(renderChart()).filter(({ name }) => /-(?:api|worker)$/.test(name));
  assert.equal(servers.length, 2);
  for (const { name, terminationGracePeriodSeconds = 0 } of servers)
    assert.ok(terminationGracePeriodSeconds >= AGENT_SETTINGS.shutdownGraceSecs.fallback + 15, name);
  assert.match(
    readFileSync(join(ROOT, "deploy/helm/values.yaml"), "utf8"),
    /image: \S+@sha256:[0-9a-f]{64} # [\d.]+$/m,
  );
});
