// A worker thread of the collector that ends or blocks on words in its input:
//   "crash at read"        when it reads them
//   "crash at feed"        when it feeds the share that has them
//   "crash once <path>"    as "crash at feed", unless the file exists, which it makes
//   "blocks <ms> ms"       when it is to flush, for so long
//   "hangs by <path>"      when it reads them, for ever, if the file exists
import { existsSync, writeFileSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import type { ToWorker } from "../../../src/collector/workers/messages.ts";

const ending = new Set<number>();
let blockMs = 0;

function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

parentPort?.on("message", (messages: readonly ToWorker[]) => {
  for (const message of messages) {
    if (message.kind === "feed" && ending.has(message.share)) process.exit(7);
    if (message.kind === "flush") block(blockMs);
    if (message.kind !== "read") continue;
    const text = Buffer.from(message.bytes).toString("latin1");
    if (text.includes("crash at read")) process.exit(7);
    if (text.includes("crash at feed")) ending.add(message.share);
    const lock = /hangs by ([\w/.-]+)/.exec(text)?.[1];
    if (lock !== undefined && existsSync(lock)) block(Infinity);
    blockMs = Math.max(blockMs, Number(/blocks (\d+) ms/.exec(text)?.[1] ?? 0));
    const path = /crash once ([\w/.-]+)/.exec(text)?.[1];
    if (path === undefined || existsSync(path)) continue;
    writeFileSync(path, "");
    ending.add(message.share);
  }
});
await import("../../../src/collector/workers/worker.ts");
