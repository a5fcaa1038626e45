// Trace times: how long a trace took, and how much of it a person was waited for. Pure.
import type { TraceItem } from "./traces.ts";

type Timed = Pick<TraceItem, "start_us" | "latency_us" | "wait_us" | "waiting_since_us">;

/** Microseconds until now. `whole` is null while a run goes on; it includes the waits. */
export function measureTrace(trace: Timed, nowUs: number): { readonly whole: number | null; readonly wait: number } {
  const { start_us: start, latency_us: whole, wait_us: wait, waiting_since_us: since } = trace;
  if (since === null) return { whole, wait };
  return { whole: Math.max(0, nowUs - start), wait: wait + Math.max(0, nowUs - since) };
}

/** The time of the runs themselves, without the waits; null while a run goes on. */
export function measureWork({ latency_us: whole, wait_us: wait }: Timed): number | null {
  return whole === null ? null : Math.max(0, whole - wait);
}
