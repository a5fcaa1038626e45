// Long threads: the cost of calls on a thread with many checkpoints, a large state or many messages, next to one with a
// tenth of them.
import { removeFolder, startServer, type MeasuredServer } from "../agent/server.ts";
import type { Note } from "../table.ts";
import { buildCycle, measureCalls, newThread, listReads } from "./calls.ts";

const CHECKPOINTS_A_CYCLE = 5;

export interface LongThreadSizes {
  readonly checkpoints: number;
  readonly stateBytes: number;
  readonly messages: number;
}

export async function measureLongThreads(note: Note, sizes: LongThreadSizes): Promise<void> {
  const server = await startServer();
  await measureCheckpoints(note, server, sizes.checkpoints);
  await measureState(note, server, sizes.stateBytes);
  await measureMessages(note, server, sizes.messages);
  await server.stop();
  removeFolder(server.folder);
}

/** The state grows with the checkpoints: each cycle appends to a list. */
async function measureCheckpoints(note: Note, server: MeasuredServer, checkpoints: number): Promise<void> {
  const cycle = buildCycle(server, "bench", { text: "question" });
  const buildThread = async (length: number): Promise<string> => {
    const thread = await newThread(server);
    for (let made = 0; made < length; made += CHECKPOINTS_A_CYCLE) await cycle.run(thread);
    return thread;
  };
  const [small, large] = [await buildThread(checkpoints / 10), await buildThread(checkpoints)];
  await measureCalls(note, server, [cycle, ...listReads(server, 10)], {
    small,
    large,
    size: `${checkpoints} checkpoints`,
  });
}

/** A text of this size, which no cycle changes. */
async function measureState(note: Note, server: MeasuredServer, bytes: number): Promise<void> {
  const buildThread = async (length: number): Promise<string> => {
    const thread = await newThread(server);
    await buildCycle(server, "bench", { text: "x".repeat(length) }).run(thread);
    return thread;
  };
  const [small, large] = [await buildThread(bytes / 10), await buildThread(bytes)];
  const cycle = buildCycle(server, "bench", { log: ["more"] });
  await measureCalls(note, server, [cycle, ...listReads(server, 3)], {
    small,
    large,
    size: `state of ${bytes / 1e6} MB`,
  });
}

async function measureMessages(note: Note, server: MeasuredServer, messages: number): Promise<void> {
  const message = (n: number) => ({ role: n % 2 === 0 ? "human" : "ai", content: `message ${n} ${"x".repeat(100)}` });
  const buildThread = async (length: number): Promise<string> => {
    const thread = await newThread(server);
    await buildCycle(server, "chat", { messages: Array.from({ length }, (_, n) => message(n)) }).run(thread);
    return thread;
  };
  const [small, large] = [await buildThread(messages / 10), await buildThread(messages)];
  const cycle = buildCycle(server, "chat", { messages: [message(0)] });
  await measureCalls(note, server, [cycle, ...listReads(server, 3)], { small, large, size: `${messages} messages` });
}
