// Check sample: the run that `collector check` uploads.
import { randomUUID } from "node:crypto";
import { isoTime } from "../../base/clock.ts";
import type { TraceRun } from "../shared/trace-run.ts";
import type { Tenant } from "../shared/tenants.ts";

/** ms → `[RFC 3339, the same as a segment of dotted_order]`. */
export function decisionTime(ms: number): readonly [string, string] {
  const iso = isoTime(ms);
  return [iso, `${iso.slice(0, 23).replaceAll(/[-:.]/g, "")}000Z`];
}

export function runForCheck(tenant: Tenant, project: string, [time, segment]: readonly [string, string]): TraceRun {
  const id = randomUUID();
  return {
    tenant,
    span: { traceId: "", spanId: "", origins: [] },
    id,
    traceId: id,
    parentRunId: "",
    dottedOrder: segment + id,
    amends: false,
    content: {
      name: "holdpoint collector check",
      runType: "chain",
      startTime: time,
      endTime: time,
      status: "success",
      error: "",
      inputs: "{}",
      outputs: "",
      extra: "{}",
      events: "",
      serialized: "",
      tags: [],
      sessionName: project,
      sessionId: "",
      referenceExampleId: "",
      attachments: [],
      size: 0,
    },
  };
}
