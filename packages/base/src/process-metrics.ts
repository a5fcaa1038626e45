// Process metrics: Node's own metrics, as `collectDefaultMetrics` of the library registers them.
// Rules:
//   - Each comes from its own file of the library: the function for all of them loads the API of OpenTelemetry, 51
//     files, for exemplars that no metric here has.
//   - CPU time counts from the start of the process.
import { createRequire } from "node:module";
import type * as PromClient from "prom-client";

const required = createRequire(import.meta.url);

const part = (name: string): unknown => required(`prom-client/lib/${name}`);

/** The classes that metrics are made of, without the parts of the library that push and merge metrics. */
export const prometheus = {
  Registry: part("registry"),
  Counter: part("counter"),
  Gauge: part("gauge"),
  Histogram: part("histogram"),
} as Pick<typeof PromClient, "Registry" | "Counter" | "Gauge" | "Histogram">;

const PARTS = [
  "processStartTime",
  "osMemoryHeap",
  "processOpenFileDescriptors",
  "processMaxFileDescriptors",
  "eventLoopLag",
  "processResources",
  "processHandles",
  "processRequests",
  "heapSizeAndUsed",
  "heapSpacesSizeAndUsed",
  "version",
  "gc",
];

const LAG_PRECISION_MS = 10;

export function addProcessMetrics(registry: PromClient.Registry): void {
  addCpuTime(registry);
  for (const name of PARTS) {
    const add = part(`metrics/${name}`) as (registry: PromClient.Registry, options: object) => void;
    add(registry, { eventLoopMonitoringPrecision: LAG_PRECISION_MS });
  }
}

function addCpuTime(registry: PromClient.Registry): void {
  const registers = [registry];
  const counter = (name: string, help: string, read: () => number): void => {
    const counted: PromClient.Counter = new prometheus.Counter({
      name,
      help,
      registers,
      collect() {
        counted.reset();
        counted.inc(read() / 1e6);
      },
    });
  };
  counter("process_cpu_user_seconds_total", "Total user CPU time spent in seconds.", () => process.cpuUsage().user);
  counter(
    "process_cpu_system_seconds_total",
    "Total system CPU time spent in seconds.",
    () => process.cpuUsage().system,
  );
  counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  });
}
