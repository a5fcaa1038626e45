// Unavailable: instructions if the server process has no trace store or no collector.
import type { ReactNode } from "react";
import { ApiProblem } from "../api/problem.ts";
import { EmptyState } from "./controls.tsx";

export function isAbsent(error: unknown): boolean {
  return error instanceof ApiProblem && (error.code === "part_absent" || error.code === "not_found");
}

export function NoTraceStore(): ReactNode {
  return (
    <EmptyState icon="traces" title="No trace store here">
      <p className="absent-words">
        Set <code>TRACES=on</code> to keep traces in this process, or <code>TRACES</code> to the address of a trace
        store to show those of another one. <code>holdpoint dev</code> always shows its own. Otherwise, traces go to the
        receiver that <code>OTEL_EXPORTER_OTLP_ENDPOINT</code> names.
      </p>
    </EmptyState>
  );
}

export function NoCollector(): ReactNode {
  return (
    <EmptyState icon="collector" title="No collector here">
      <p className="absent-words">
        Set <code>COLLECTOR_URL</code> to show one of another process, or <code>TRACES=on</code> to run one in this
        process. <code>holdpoint dev</code> always shows its own.
      </p>
    </EmptyState>
  );
}
