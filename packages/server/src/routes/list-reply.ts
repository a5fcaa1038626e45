// List reply: the reply of a call for a list with large rows. A short list is one text. A long one is streamed row by
// row, with the memory of a row instead of the list.
// Invariants:
//   list-reply.1. A list is complete or truncated: it has every requested row, or its connection ends before the last
//     bracket.
//   list-reply.2. Rows after the first WHOLE_UNITS_MAX are read after the peer has received the rows before them.
//   list-reply.3. All long lists together encode one row at a time, with a turn of the event loop in between: a row
//     delays other calls, a list does not.
//   list-reply.4. At most STREAMS_MAX long lists are sent at once; the others queue. A peer that reads nothing for
//     STALL_MS is disconnected.
import type { HttpReply } from "@holdpoint/base/http/server/reply.ts";

const WHOLE_UNITS_MAX = 256 * 1024;
const STREAMS_MAX = 32;
const STALL_MS = 10_000;

/**
 * @param rows JSON texts
 * @param around text before and after the list
 */
export async function listReply(
  rows: AsyncIterable<string>,
  headers: Readonly<Record<string, string>> = {},
  around: readonly [before: string, after: string] = ["", ""],
): Promise<HttpReply> {
  const source = rows[Symbol.asyncIterator]();
  const texts: string[] = [];
  let units = 0;
  for (;;) {
    const { done, value } = await source.next();
    if (done === true) return { status: 200, body: `${around[0]}[${texts.join(",")}]${around[1]}`, headers };
    texts.push(value);
    if (units > WHOLE_UNITS_MAX) break;
    units += value.length;
  }
  const body = pieces(`${around[0]}[${texts.splice(0).join(",")}`, source, `]${around[1]}`);
  return { status: 200, body, headers: { "Content-Type": "application/json", ...headers }, stallMs: STALL_MS };
}

/** The rows of a list as JSON texts. */
export async function* streamTexts<Row>(
  rows: AsyncIterable<Row>,
  object: (row: Row) => object,
): AsyncGenerator<string> {
  for await (const row of rows) yield JSON.stringify(object(row));
}

async function* pieces(begin: string, rows: AsyncIterator<string>, end: string): AsyncGenerator<string> {
  const leave = await enter(); // list-reply.4
  try {
    yield begin;
    for (;;) {
      const { done, value } = await inTurn(() => rows.next()); // list-reply.2, list-reply.3
      if (done === true) break;
      yield `,${value}`;
    }
    yield end; // list-reply.1
  } finally {
    leave();
    await rows.return?.();
  }
}

let last: Promise<unknown> = Promise.resolve();

/** One queue per process, like its event loop. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const mine = last.then(() => new Promise((resolve) => setImmediate(resolve))).then(work);
  last = mine.catch(() => undefined);
  return mine;
}

let streams = 0;
const waiting: (() => void)[] = [];

async function enter(): Promise<() => void> {
  if (streams >= STREAMS_MAX) await new Promise<void>((resolve) => waiting.push(resolve));
  else streams++;
  return () => {
    const next = waiting.shift();
    if (next === undefined) streams--;
    else next();
  };
}
