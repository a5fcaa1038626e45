// deploy/grafana and deploy/prometheus: what they ask for is what the servers tell.
//   dashboards.1. Each metric and each label that a dashboard or an alert names is in /metrics of the server or of the
//        collector.
//   dashboards.2. Prometheus' own tool reads each expression, and the alerts fire when their tests say so.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { parse } from "yaml";
import { startBackend, type FakeBackend } from "../fakes/backend.ts";
import { startCollector, type TestCollector } from "../fakes/collector.ts";
import { buildSpan, jsonRequest } from "../fakes/otlp.ts";
import { call, removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";

interface Dashboard {
  readonly uid: string;
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
}
interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}

const RULES = join(ROOT, "deploy/prometheus/rules.yaml");
const dashboards = globSync("deploy/grafana/*.json", { cwd: ROOT }).map(
  (path) => JSON.parse(readFileSync(join(ROOT, path), "utf8")) as Dashboard,
);
const rules = (parse(readFileSync(RULES, "utf8")) as Rules).groups.flatMap((group) => group.rules);
/** Grafana puts a duration in place of these. */
const panels = dashboards.flatMap(({ uid, panels: list }) =>
  list.flatMap(({ title, targets }) =>
    targets.map(({ expr }) => ({
      name: `${uid}: ${title}`,
      expr: expr.replaceAll(/\$__(?:rate_interval|range)/g, "5m"),
    })),
  ),
);
const expressions = [...panels, ...rules.map(({ alert, expr }) => ({ name: alert, expr }))];

let server: ServerHere;
let backend: FakeBackend;
let collector: TestCollector;
const folder = temporaryFolder();
/** Names of metrics, and of the labels that their samples have. */
const told = new Map<string, Set<string>>();

before(async () => {
  server = await startServerHere();
  const thread = (await call(server, "POST", "/threads", {})).body as { readonly thread_id: string };
  await call(server, "POST", `/threads/${thread.thread_id}/runs/wait`, { assistant_id: "agent", input: {} });
  const redact = [{ name: "email", detect: ["email"] }];
  const forward = [{ name: "down", endpoint: "http://127.0.0.1:9" }];
  const limits = { default: { items_per_second: 1000 } };
  writeFileSync(join(folder, "rules.json"), JSON.stringify({ redact, forward, limits }));
  mkdirSync(join(folder, "spool"));
  backend = await startBackend();
  collector = await startCollector(backend.url, {
    RULES_FILE: join(folder, "rules.json"),
    SPOOL_DIR: join(folder, "spool"),
  });
  await collector.send(jsonRequest([buildSpan(1, 0)]), { "content-type": "application/json" });
  for (const { url } of [server, collector]) {
    const text = await (await fetch(`${url}/metrics`)).text();
    for (const [, name = "", type] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm))
      for (const suffix of type === "histogram" ? ["_bucket", "_count", "_sum"] : [""])
        told.set(name + suffix, new Set());
    for (const [, name = "", labels = ""] of text.matchAll(/^(\w+)\{(.*)\} \S+$/gm))
      for (const [, label = ""] of labels.matchAll(/(\w+)="/g)) told.get(name)?.add(label);
  }
});
after(async () => {
  await server.stop();
  await collector.stop();
  await backend.close();
  removeFolder(server.dataDir);
  removeFolder(folder);
});

/** Labels that Prometheus adds. */
const OF_PROMETHEUS = ["job", "instance"];
const WORDS = new Set(["by", "and", "or", "on", "offset", "unless", "without"]);

/** The names in an expression: of metrics, and of the labels in braces and after `by`. */
function readNames(expr: string): { readonly metrics: readonly string[]; readonly labels: readonly string[] } {
  const bare = expr.replaceAll(/"[^"]*"/g, '""');
  const inBraces = [...bare.matchAll(/\{([^}]*)\}/g)].flatMap(([, inner = ""]) => inner.match(/\w+(?==|!)/g) ?? []);
  const grouped = [...bare.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, inner = ""]) => inner.split(/,\s*/));
  const rest = bare.replaceAll(/\{[^}]*\}|\[[^\]]*\]|\bby \([^)]*\)|\boffset \w+/g, "");
  const metrics = [...rest.matchAll(/\b[a-z_]\w*\b(?!\s*\()/g)]
    .map(([name]) => name)
    .filter((name) => !WORDS.has(name));
  return { metrics, labels: [...inBraces, ...grouped] };
}

test("each metric and label that a dashboard or an alert names is in /metrics (dashboards.1)", () => {
  assert.ok(dashboards.length >= 3 && panels.length > 30 && rules.length > 8);
  const seen = new Set<string>();
  for (const { name, expr } of expressions) {
    const { metrics, labels } = readNames(expr);
    assert.ok(metrics.length > 0, expr);
    const known = new Set(metrics.flatMap((metric) => [...(told.get(metric) ?? [])]).concat(OF_PROMETHEUS));
    for (const metric of metrics) {
      if (metric === "up") continue; // of Prometheus
      seen.add(metric);
      assert.ok(told.has(metric), `${name}: no metric ${metric}`);
    }
    // A counter that has not counted yet has no sample, so its labels cannot be seen.
    const sampled = metrics.every((metric) => (told.get(metric)?.size ?? 0) > 0);
    if (sampled) for (const label of labels) assert.ok(known.has(label), `${name}: no label ${label}`);
  }
  assert.ok(seen.size > 35, [...seen].join());
});

const promtool = (...args: readonly string[]): { readonly status: number | null; readonly said: string } => {
  const { status, stdout, stderr, error } = spawnSync("promtool", args, { encoding: "utf8" });
  if (error !== undefined) throw new Error("promtool is missing: apt-get install prometheus", { cause: error });
  return { status, said: stdout + stderr };
};

test("Prometheus' own tool reads the alerts and every panel's expression (dashboards.2)", () => {
  const read = (name: string, list: readonly object[]): string => {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify({ groups: [{ name: "panels", rules: list }] }));
    return path;
  };
  const records = panels.map(({ expr }, at) => ({ record: `panel:${at}`, expr: expr.replaceAll("$job", ".*") }));
  for (const path of [RULES, read("panels.json", records)]) {
    const { status, said } = promtool("check", "rules", path);
    assert.equal(status, 0, said);
  }
  assert.notEqual(
    promtool("check", "rules", read("broken.json", [{ record: "a", expr: "sum by (rate(x[5m])" }])).status,
    0,
  );
});

test("every alert has a test, and fires as its test says (dashboards.2)", () => {
  const path = join(ROOT, "deploy/prometheus/rules.test.yaml");
  const text = readFileSync(path, "utf8");
  const fired = [...text.matchAll(/alertname: (\w+)\n\s+exp_alerts:/g)].map(([, name]) => name);
  assert.deepEqual(new Set(fired), new Set(rules.map(({ alert }) => alert)));
  const { status, said } = promtool("test", "rules", path);
  assert.equal(status, 0, said);
});
