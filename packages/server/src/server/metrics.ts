// Metrics of the agent server: their names and sources.
import type { Metrics } from "@holdpoint/base/metrics.ts";
import type { HttpRoute } from "@holdpoint/base/http/server/app.ts";
import { nameDecision } from "@holdpoint/api/text/answer-words.ts";
import type { AuditVia, Interrupt, LimitName, Run } from "../model/model.ts";
import type { Storage } from "../ports/ports.ts";

export interface AgentMetrics {
  readonly onRunEnd: (run: Run, durationMs: number) => void;
  readonly onAnswer: (item: Interrupt, via: AuditVia) => void;
  readonly onWebhook: (outcome: "sent" | "failed" | "given_up") => void;
  readonly onLimit: (limit: LimitName) => void;
  readonly onReply: (route: HttpRoute | null, status: number, seconds: number) => void;
}

const RUN_SECONDS = [0.005, 0.025, 0.1, 0.5, 2, 10, 60, 600, 3600];
/** Seconds to weeks: people answer. */
const WAIT_SECONDS = [1, 10, 60, 300, 1800, 3600, 14_400, 86_400, 259_200, 604_800, 2_592_000];
const REQUEST_SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 2, 10, 60, 600];

export function createAgentMetrics(
  metrics: Metrics,
  storage: Storage,
  parts: {
    readonly slots: number;
    readonly running: () => number;
    readonly boundUnits: () => number;
    readonly overdue: () => Promise<number>;
  },
): AgentMetrics {
  const runs = metrics.counter("agent_runs_total", "Runs that ended, by how", ["graph", "status", "ended_by"]);
  const duration = metrics.histogram("agent_run_duration_seconds", "Time from claim to end", RUN_SECONDS, ["graph"]);
  const requests = metrics.histogram(
    "http_server_request_duration_seconds",
    "Time to answer a request",
    REQUEST_SECONDS,
    ["http_route", "http_response_status_code"],
  );
  const webhooks = metrics.counter("agent_webhooks_total", "Tries to send a webhook, by how they ended", ["outcome"]);
  metrics.gauge("agent_webhooks_pending", "Webhooks that are still to be sent", async (gauge) =>
    gauge.set(await storage.transaction((tx) => tx.countWebhooks())),
  );
  metrics.gauge("agent_workers_max", "Runs that may be in progress at the same time", (gauge) =>
    gauge.set(parts.slots),
  );
  metrics.gauge("agent_workers_active", "Runs in progress", (gauge) => gauge.set(parts.running()));
  metrics.gauge("agent_runs_pending", "Runs that wait in the queue", async (gauge) =>
    gauge.set(await storage.transaction((tx) => tx.countPendingRuns())),
  );
  metrics.gauge("agent_interrupts_open", "Questions that wait for a person", async (gauge) =>
    gauge.set(await storage.read((tx) => tx.countOpenInterrupts())),
  );
  metrics.gauge("agent_interrupts_overdue", "Questions that wait longer than their deadline", async (gauge) =>
    gauge.set(await parts.overdue()),
  );
  const waits = metrics.histogram(
    "agent_interrupt_wait_seconds",
    "Time from a question to the answer that counted",
    WAIT_SECONDS,
    ["graph"],
  );
  const decisions = metrics.counter("agent_decisions_total", "Answers that counted, by decision and channel", [
    "graph",
    "decision",
    "channel",
  ]);
  const refusals = metrics.counter(
    "agent_limit_refusals_total",
    "Calls refused with 429, by the limit of their caller",
    ["limit"],
  );
  metrics.gauge("storage_bound_characters", "Text sent to the database since the start", (gauge) =>
    gauge.set(parts.boundUnits()),
  );
  return {
    onAnswer({ graphId: graph, kind, createdAt, answer }, channel) {
      if (answer === null) return;
      waits.observe({ graph }, Math.max(0, answer.at - createdAt) / 1000);
      const decision = kind === "breakpoint" ? "continue" : nameDecision(answer.value);
      decisions.inc({ graph, decision, channel });
    },
    onRunEnd(run, durationMs) {
      runs.inc({ graph: run.graphId, status: run.status, ended_by: run.endedBy ?? "" });
      duration.observe({ graph: run.graphId }, durationMs / 1000);
    },
    onLimit: (limit) => refusals.inc({ limit }),
    onWebhook: (outcome) => webhooks.inc({ outcome }),
    onReply(route, status, seconds) {
      requests.observe({ http_route: route?.path ?? "", http_response_status_code: String(status) }, seconds);
    },
  };
}
