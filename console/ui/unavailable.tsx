// Unavailable: instructions if the server process has no trace store or no collector.
import type { ReactNode } from "react";
import { ApiProblem } from "../api/problem.ts";
import { EmptyState } from "./controls.tsx";

export function isAbsent(error: unknown): boolean {
  return error instanceof ApiProblem && (error.code === "part_absent" || error.code === "not_found");
}

export function NoTraceStore(): ReactNode {
  return (
    <EmptyState icon="traces" title="No trace store in this process">
      <p className="absent-words">
        <code>holdpoint dev</code> runs the agent server, the collector and the trace store in one process, and shows
        the traces here. Otherwise, traces go to the receiver that <code>OTEL_EXPORTER_OTLP_ENDPOINT</code> names.
      </p>
    </EmptyState>
  );
}

export function NoCollector(): ReactNode {
  return (
    <EmptyState icon="collector" title="No collector in this process">
      <p className="absent-words">
        <code>holdpoint dev</code> runs one with the agent server and shows it here. A separate one (
        <code>holdpoint collector</code>) serves the same metrics at <code>/metrics</code>.
      </p>
    </EmptyState>
  );
}
