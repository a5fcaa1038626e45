// A long thread: the cost of calls on a thread with many checkpoints, next to one with a tenth of them. Its state grows
// with it: each cycle appends to a list.
import { removeFolder, startServer, type MeasuredServer } from "../agent/server.ts";
import type { Note } from "../table.ts";

const CHECKPOINTS_A_CYCLE = 5;
const CALLS = 40;
/** Ten times the checkpoints cost at most ten times as much. */
const LINEAR = 10;

interface Call {
  readonly what: string;
  readonly run: (thread: string) => Promise<void>;
}

export async function measureLongThread(note: Note, checkpoints: number): Promise<void> {
  const server = await startServer();
  const calls = callsOf(server);
  const cycle = calls[0];
  if (cycle === undefined) throw new Error("no cycle");
  const threads: string[] = [];
  for (const length of [checkpoints / 10, checkpoints]) {
    const { thread_id: thread } = await post(server, "/threads", {});
    threads.push(String(thread));
    for (let made = 0; made < length; made += CHECKPOINTS_A_CYCLE) await cycle.run(String(thread));
  }
  for (const { what, run } of calls) {
    const costs: number[] = [];
    for (const thread of threads) {
      const before = (await server.metrics()).cpuSeconds;
      for (let n = 0; n < CALLS; n++) await run(thread);
      costs.push(((await server.metrics()).cpuSeconds - before) / CALLS);
    }
    const [short = Number.NaN, long = Number.NaN] = costs;
    note({
      what: `${what}, ${checkpoints} checkpoints / a tenth`,
      measured: `${(long * 1000).toFixed(1)} ms / ${(short * 1000).toFixed(1)} ms`,
      ratio: long / short,
      asked: `at most ${LINEAR}`,
    });
  }
  await server.stop();
  removeFolder(server.folder);
}

function callsOf(server: MeasuredServer): readonly Call[] {
  const wait = async (thread: string, body: object): Promise<void> => {
    const reply = await post(server, `/threads/${thread}/runs/wait`, { assistant_id: "bench", ...body });
    if ("__error__" in reply) throw new Error(JSON.stringify(reply));
  };
  return [
    {
      what: "cycle",
      async run(thread) {
        await wait(thread, { input: { text: "question" } });
        await wait(thread, { command: { resume: "approved" } });
      },
    },
    {
      what: "state",
      run: async (thread) => void (await (await fetch(`${server.url}/threads/${thread}/state`)).arrayBuffer()),
    },
    {
      what: "history of 10",
      run: async (thread) => void (await post(server, `/threads/${thread}/history`, { limit: 10 })),
    },
  ];
}

async function post(server: MeasuredServer, path: string, body: object): Promise<Record<string, unknown>> {
  const headers = { "content-type": "application/json" };
  const reply = await fetch(`${server.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  if (!reply.ok) throw new Error(await reply.text());
  return (await reply.json()) as Record<string, unknown>;
}
