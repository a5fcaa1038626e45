// Check sample: the run that `collector check` uploads.
import { randomUUID } from "node:crypto";
import { isoTime } from "@holdpoint/base/clock.ts";
import { PLAIN_CONTENT, type TraceRun } from "../shared/trace-run.ts";
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
      ...PLAIN_CONTENT,
      name: "holdpoint collector check",
      startTime: time,
      endTime: time,
      sessionName: project,
    },
  };
}
