// Comparison with the bare library: rounds of the same number of cycles, on a server and in process, in turn. The median
// of the rounds counts, so that other load on the machine affects both sides alike.
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { median, runScript } from "../measure.ts";
import type { MeasuredServer } from "./server.ts";

export interface InProcess {
  measure(cycles: number): Promise<{ readonly cpuSeconds: number; readonly medianMs: number }>;
  stop(): Promise<void>;
}

export interface Rounds {
  readonly cycles: number;
  readonly rounds: number;
  readonly clients: number;
  readonly stateBytes: number;
}

export interface Compared {
  /** CPU seconds a cycle. */
  readonly library: number;
  readonly server: number;
  readonly ratio: number;
  /** Milliseconds a cycle. */
  readonly libraryMs: number;
  readonly serverMs: number;
  readonly latencyRatio: number;
}

/** Resolves when the library is warm. */
export async function startInProcess(stateBytes: number, warmUp: number): Promise<InProcess> {
  const child = fork(join(import.meta.dirname, "in-process.ts"), [String(stateBytes), String(warmUp)]);
  await once(child, "message");
  return {
    async measure(cycles) {
      const answer = once(child, "message") as Promise<[{ cpuSeconds: number; medianMs: number }]>;
      child.send(cycles);
      return (await answer)[0];
    },
    async stop() {
      child.kill();
      await once(child, "exit");
    },
  };
}

/** @param servers those that share the load; the first one gets it */
export async function compare(
  servers: readonly MeasuredServer[],
  library: InProcess,
  { cycles, rounds, clients, stateBytes }: Rounds,
): Promise<Compared> {
  const all: Compared[] = [];
  for (let round = 0; round < rounds; round++) {
    const inProcess = await library.measure(cycles);
    const before = await sumCpu(servers);
    const args = [servers[0]?.url ?? "", cycles, clients, stateBytes, "bench", "cycle"];
    const load = await runScript(join(import.meta.dirname, "client.ts"), args);
    const server = ((await sumCpu(servers)) - before) / cycles;
    const serverMs = load["medianMs"] ?? Number.NaN;
    all.push({
      library: inProcess.cpuSeconds / cycles,
      server,
      ratio: inProcess.cpuSeconds / cycles / server,
      libraryMs: inProcess.medianMs,
      serverMs,
      latencyRatio: serverMs / inProcess.medianMs,
    });
  }
  const of = (name: keyof Compared): number => median(all.map((one) => one[name]));
  return {
    library: of("library"),
    server: of("server"),
    ratio: of("ratio"),
    libraryMs: of("libraryMs"),
    serverMs: of("serverMs"),
    latencyRatio: of("latencyRatio"),
  };
}

async function sumCpu(servers: readonly MeasuredServer[]): Promise<number> {
  const each = await Promise.all(servers.map((server) => server.metrics()));
  return each.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
}
