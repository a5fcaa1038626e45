// Put writes: the writes of a task → its row. A later call for the same task adds to the row (run-checkpointer.3).
import { type EncodedValue, type ValueToEncode, encodeValues } from "./encode-values.ts";
import { type SaverState, blobReference, noteSizes, taskKey } from "./saver-state.ts";

/** One call of the library's `putWrites`. */
export interface WritesPut {
  readonly ns: string;
  readonly checkpointId: string;
  readonly taskId: string;
  readonly taskPath: string;
  readonly list: readonly (readonly [channel: string, value: unknown])[];
}

type FreshWrite = ValueToEncode & { readonly index: number };

/** They have an index of their own, and the last one counts. */
export const SPECIAL_WRITES: Readonly<Record<string, number>> = {
  __error__: -1,
  __scheduled__: -2,
  __interrupt__: -3,
  __resume__: -4,
  __shown__: -5,
};

/** Each list of interrupts, its reply and its inbox item are read whole, and people see them. */
class InterruptTooLargeError extends Error {
  constructor(bytes: number, bytesMax: number) {
    const cure = "Pass a reference to the data instead.";
    super(`The value of interrupt() has ${bytes} bytes as JSON, and ${bytesMax} are allowed. ${cure}`);
    this.name = "interrupt_too_large";
  }
}

/** @throws {InterruptTooLargeError} */
function checkInterrupts(writes: readonly FreshWrite[], texts: readonly EncodedValue[], bytesMax: number): void {
  for (const [at, { channel }] of writes.entries()) {
    const text = texts[at]?.encoded ?? "";
    if (channel !== "__interrupt__" || text.length <= bytesMax / UTF8_BYTES_PER_UNIT_MAX) continue;
    const bytes = Buffer.byteLength(text);
    if (bytes > bytesMax) throw new InterruptTooLargeError(bytes, bytesMax);
  }
}

const UTF8_BYTES_PER_UNIT_MAX = 3;

export function putTaskWrites(state: SaverState, put: WritesPut): void {
  const { ns, checkpointId, taskId, taskPath, list } = put;
  const { codec, threadId, runId, interruptBytesMax } = state.options;
  const key = taskKey({ ns, checkpointId, taskId });
  let entries = state.listEntries.get(key);
  if (entries === undefined) state.listEntries.set(key, (entries = new Map()));
  const fresh = freshWrites(entries, list);
  const texts = encodeValues(codec, fresh);
  checkInterrupts(fresh, texts, interruptBytesMax);
  noteSizes(
    state,
    ns,
    texts.map(({ encoded }, at) => [fresh[at]?.channel ?? "", encoded.length]),
  );
  for (const [at, text] of texts.entries()) {
    const { index, channel } = fresh[at] as FreshWrite;
    const reference = blobReference(state, text);
    const value = reference === null ? text.encoded : `null,"${reference}"`;
    entries.set(index, `[${index},${JSON.stringify(channel)},${value}]`);
  }
  state.taskPaths.set(key, taskPath);
  const row = { threadId, ns, checkpointId, taskId, taskPath, runId };
  state.writes.set(key, { ...row, entries: `[${[...entries.values()].join(",")}]` });
  state.pending.writesPut(ns, checkpointId, taskId, list);
}

function freshWrites(entries: ReadonlyMap<number, string>, list: WritesPut["list"]): readonly FreshWrite[] {
  const fresh: FreshWrite[] = [];
  list.forEach(([channel, value], position) => {
    const index = SPECIAL_WRITES[channel] ?? position;
    if (index >= 0 && entries.has(index)) return; // run-checkpointer.3
    fresh.push({ index, channel, value, text: null });
  });
  return fresh;
}
