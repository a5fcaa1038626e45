// Cost of calls on two threads, of which one is ten times as large. Linear cost is the worst that is allowed.
import type { MeasuredServer } from "../agent/server.ts";
import type { Note } from "../table.ts";

const CALLS = 40;
/** Ten times the size costs at most ten times as much. */
const LINEAR = 10;

export interface Call {
  readonly what: string;
  readonly run: (thread: string) => Promise<void>;
}

export interface Threads {
  readonly small: string;
  readonly large: string;
  /** `10000 checkpoints`. */
  readonly size: string;
}

export async function measureCalls(
  note: Note,
  server: MeasuredServer,
  calls: readonly Call[],
  { small, large, size }: Threads,
): Promise<void> {
  for (const { what, run } of calls) {
    const costs: number[] = [];
    for (const thread of [small, large]) {
      await run(thread);
      const before = (await server.metrics()).cpuSeconds;
      for (let n = 0; n < CALLS; n++) await run(thread);
      costs.push(((await server.metrics()).cpuSeconds - before) / CALLS);
    }
    const [ofSmall = Number.NaN, ofLarge = Number.NaN] = costs;
    note({
      what: `${what}, ${size} / a tenth`,
      measured: `${(ofLarge * 1000).toFixed(1)} ms / ${(ofSmall * 1000).toFixed(1)} ms`,
      ratio: ofLarge / ofSmall,
      asked: `at most ${LINEAR}`,
    });
  }
}

/** A pause and its answer. */
export function buildCycle(server: MeasuredServer, assistant: string, input: object): Call {
  const wait = async (thread: string, body: object): Promise<void> => {
    const reply = await post(server, `/threads/${thread}/runs/wait`, { assistant_id: assistant, ...body });
    if ("__error__" in reply) throw new Error(JSON.stringify(reply));
  };
  return {
    what: "cycle",
    async run(thread) {
      await wait(thread, { input });
      await wait(thread, { command: { resume: "approved" } });
    },
  };
}

export function listReads(server: MeasuredServer, historyLimit: number): readonly Call[] {
  return [
    {
      what: "state",
      run: async (thread) => void (await (await fetch(`${server.url}/threads/${thread}/state`)).arrayBuffer()),
    },
    {
      what: `history of ${historyLimit}`,
      run: async (thread) => void (await post(server, `/threads/${thread}/history`, { limit: historyLimit })),
    },
  ];
}

export async function newThread(server: MeasuredServer): Promise<string> {
  return String((await post(server, "/threads", {}))["thread_id"]);
}

async function post(server: MeasuredServer, path: string, body: object): Promise<Record<string, unknown>> {
  const headers = { "content-type": "application/json" };
  const reply = await fetch(`${server.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  if (!reply.ok) throw new Error(await reply.text());
  return (await reply.json()) as Record<string, unknown>;
}
