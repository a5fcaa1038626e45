// Check: `holdpoint collector check` tests each prerequisite of an upload and reports the steps that fail.
// Invariant: its only lasting effect is one small run with a recognisable name.
import { systemClock, isoTime } from "@holdpoint/base/clock.ts";
import type { HttpBackend } from "../upload/backend/http.ts";
import { encodeRun } from "../encode/encode-run.ts";
import { openBackend, manualUploadPorts } from "../service/open-collector.ts";
import { type CollectorConfig, deadLetterDir } from "../service/settings.ts";
import { nodeFiles } from "../spool/disk/file-port.ts";
import { hashTenantId, type Tenant } from "../shared/tenants.ts";
import { sendAgain } from "../upload/upload.ts";
import { randomUUID } from "node:crypto";
import { PLAIN_CONTENT, type TraceRun } from "../shared/trace-run.ts";

export interface CheckStep {
  readonly name: "endpoint" | "key" | "spool" | "dead letters" | "upload";
  readonly outcome: "ok" | "failed" | "skipped";
  readonly detail: string;
}

/** Every step's outcome; the check has passed when none is "failed". @throws {ConfigError} without an endpoint. */
export async function checkCollector(
  config: CollectorConfig,
  { isLocal = false }: { readonly isLocal?: boolean } = {},
): Promise<readonly CheckStep[]> {
  const backend = openBackend(config);
  try {
    const steps: CheckStep[] = [
      await checkEndpoint(config.endpoint ?? "", backend),
      keyStep(config, isLocal),
      await checkFolder("spool", config.spoolDir, "memory mode: a crash loses undelivered spans"),
      await checkFolder("dead letters", deadLetterDir(config), "no folder: undeliverable runs are lost"),
    ];
    steps.push(await checkUpload(config, backend));
    return steps;
  } finally {
    backend.close();
  }
}

function keyStep({ apiKey }: CollectorConfig, isLocal: boolean): CheckStep {
  if (isLocal) return { name: "key", outcome: "skipped", detail: "the local trace store needs none" };
  if (apiKey !== null) return { name: "key", outcome: "ok", detail: "TRACING_API_KEY is set" };
  const detail = "TRACING_API_KEY is not set: every request must bring its own key";
  return { name: "key", outcome: "skipped", detail };
}

async function checkEndpoint(endpoint: string, backend: HttpBackend): Promise<CheckStep> {
  try {
    return { name: "endpoint", outcome: "ok", detail: `${endpoint} answers; ${await backend.ask()}` };
  } catch (error) {
    const reason = error instanceof Error ? error.message : "unknown";
    return { name: "endpoint", outcome: "failed", detail: `${endpoint} does not answer: ${reason}` };
  }
}

async function checkFolder(name: "spool" | "dead letters", dir: string | null, without: string): Promise<CheckStep> {
  if (dir === null) return { name, outcome: "skipped", detail: without };
  const probe = `${dir}/check-${process.pid}`;
  try {
    await nodeFiles.makeDir(dir);
    const file = await nodeFiles.create(probe);
    await file.write([Buffer.from("check")]);
    await file.sync();
    await file.close();
    await nodeFiles.unlink(probe);
    return { name, outcome: "ok", detail: `${dir} can be written and synced` };
  } catch (error) {
    return {
      name,
      outcome: "failed",
      detail: `${dir}: ${error instanceof Error ? error.message : "cannot be written"}`,
    };
  }
}

async function checkUpload(config: CollectorConfig, backend: HttpBackend): Promise<CheckStep> {
  const { apiKey } = config;
  if (apiKey === null) return { name: "upload", outcome: "skipped", detail: "needs TRACING_API_KEY" };
  const tenant = { id: hashTenantId(apiKey, ""), apiKey, tenantId: "" };
  const createdMs = systemClock.now();
  const run = runForCheck(tenant, config.project ?? "default", decisionTime(createdMs));
  const { encoding } = backend.limits();
  const body = await encodeRun(run, { createdMs, encoding });
  const outcome = await sendAgain(body, config, manualUploadPorts(backend), new AbortController().signal);
  if (outcome.kind === "sent") return { name: "upload", outcome: "ok", detail: "the backend accepted one run" };
  return { name: "upload", outcome: "failed", detail: outcome.reason };
}

/** ms → `[RFC 3339, the same as a segment of dotted_order]`. */
function decisionTime(ms: number): readonly [string, string] {
  const iso = isoTime(ms);
  return [iso, `${iso.slice(0, 23).replaceAll(/[-:.]/g, "")}000Z`];
}

function runForCheck(tenant: Tenant, project: string, [time, segment]: readonly [string, string]): TraceRun {
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
