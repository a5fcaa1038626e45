// Write reply: a reply on its socket, in pieces where it is long.
import type { ServerResponse } from "node:http";
import { withoutBlocks } from "./loop-watch.ts";
import type { HttpReply } from "./reply.ts";

export async function writeReply(outgoing: ServerResponse, reply: HttpReply, method: string): Promise<void> {
  const { status, body, headers, stallMs } = reply;
  if (typeof body === "string") return writeText(outgoing, reply, body, method);
  outgoing.writeHead(status, headers);
  if (body !== null && method === "HEAD") void body[Symbol.asyncIterator]().return?.();
  else if (body !== null) {
    outgoing.flushHeaders(); // the first chunk may take long
    for await (const piece of body) {
      if (outgoing.destroyed) return;
      const units = piece.length > PIECE_UNITS ? piece.length : 0;
      unitsLeaving += units;
      try {
        writeNow(outgoing, piece);
        if (outgoing.writableNeedDrain) await drained(outgoing, stallMs);
      } finally {
        unitsLeaving -= units;
      }
    }
  }
  outgoing.end();
}

const PIECE_UNITS = 512 * 1024;

let unitsLeaving = 0;

/** UTF-16 units of the large replies that are being written. */
export function countUnitsLeaving(): number {
  return unitsLeaving;
}

async function writeText(
  outgoing: ServerResponse,
  { status, headers }: HttpReply,
  body: string,
  method: string,
): Promise<void> {
  const isLarge = body.length > PIECE_UNITS;
  if (isLarge) unitsLeaving += body.length;
  try {
    if (isLarge) await nextTurn(); // the text was made in this turn
    const length = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
    outgoing.writeHead(status, { ...length, ...headers });
    if (isLarge && method !== "HEAD") await writePieces(outgoing, body);
    else outgoing.end(body);
  } finally {
    if (isLarge) unitsLeaving -= body.length;
  }
}

/** app.5. */
async function writePieces(outgoing: ServerResponse, body: string): Promise<void> {
  for (let at = 0; at < body.length && !outgoing.destroyed;) {
    let end = Math.min(at + PIECE_UNITS, body.length);
    const last = body.charCodeAt(end - 1);
    if (end < body.length && last >= 0xd800 && last < 0xdc00) end--; // both halves of a character stay together
    outgoing.write(body.slice(at, end));
    at = end;
    await nextTurn();
    if (outgoing.writableNeedDrain && !outgoing.destroyed) await drained(outgoing, undefined);
  }
  outgoing.end();
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** In one write and at once: a graph that runs on without a pause would delay the chunk. */
function writeNow(outgoing: ServerResponse, piece: string | Uint8Array): void {
  const { socket } = outgoing;
  socket?.cork();
  outgoing.cork();
  outgoing.write(piece);
  outgoing.uncork();
  socket?.uncork();
}

/** Resolves once the peer has read the data, or has disconnected. */
function drained(outgoing: ServerResponse, stallMs: number | undefined): Promise<void> {
  return new Promise((resolve) => {
    const cancel = stallMs === undefined ? undefined : withoutBlocks(stallMs, () => outgoing.destroy());
    const done = (): void => {
      cancel?.();
      outgoing.off("drain", done).off("close", done);
      resolve();
    };
    outgoing.on("drain", done).on("close", done);
  });
}
