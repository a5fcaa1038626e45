// Remote parts: a trace store and a collector that the console shows, at their addresses.
import { randomBytes } from "node:crypto";
import type { LocalCollector, LocalServices } from "@holdpoint/server/server/console-api.ts";
import type { AgentConfig } from "@holdpoint/server/server/settings.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";

/** The other parts of the process, for the console. */
export type ProcessParts = Pick<LocalServices, "traces" | "collector">;

/** Traces and collector of other processes, where the settings name them. */
export async function remoteParts(config: AgentConfig): Promise<ProcessParts> {
  const { traces, tracesKey: key, collectorUrl, ingestToken } = config;
  const url = traces === "on" || traces === "off" ? null : traces;
  return {
    traces:
      url === null ? null : (await import("@holdpoint/collector/traces/remote.ts")).remoteTraceRoutes({ url, key }),
    collector: collectorUrl === null ? null : collectorAt(collectorUrl, ingestToken, () => null),
  };
}

const METRICS_TIMEOUT_MS = 5000;

/** @param problems recent warnings of a collector in this process */
export function collectorAt(url: string, token: string | null, problems: LocalCollector["problems"]): LocalCollector {
  const reached = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof ApiError) throw error;
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const reason = cause instanceof Error ? cause.message : "unknown";
      throw new ApiError(
        "part_unreachable",
        `The collector at ${url} does not respond (${reason}): check that it runs.`,
      );
    }
  };
  const refused = (status: number): ApiError =>
    new ApiError("part_unreachable", `${url}/metrics answered ${status}: check that COLLECTOR_URL names a collector.`);
  return {
    url,
    metrics: () =>
      reached(async () => {
        const signal = AbortSignal.timeout(METRICS_TIMEOUT_MS);
        const reply = await fetch(`${url}/metrics`, { signal, redirect: "manual" });
        if (reply.status !== 200) throw refused(reply.status);
        return reply.text();
      }),
    problems,
    sendSample: () =>
      reached(async () => {
        const { sendSampleSpan } = await import("../dev/sample-span.ts");
        return sendSampleSpan(url, token, Date.now(), (count) => randomBytes(count).toString("hex"));
      }),
  };
}
