// Many readers of one thread: from the opening of the gate until each has the end of the run.
// Arguments: url of the stream, number of readers, gate (a file to create, or a URL to post to). Prints one JSON line.
import { writeFileSync } from "node:fs";
import { post, readTo } from "./events.ts";

const [url = "", readers = "100", gate = ""] = process.argv.slice(2);
const FILTER = { channels: ["lifecycle", "messages"] };

const waiting: Promise<unknown>[] = [];
const ends = Array.from({ length: Number(readers) }, async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  waiting.push(promise);
  return readTo(await post(url, FILTER), /:(completed|failed):/, resolve);
});
await Promise.all(waiting);
const startedAt = performance.now();
if (gate.startsWith("http")) await post(gate, {});
else writeFileSync(gate, "");
const all = await Promise.all(ends);
const seconds = (performance.now() - startedAt) / 1000;
const deliveries = all.reduce((sum, { events }) => sum + events, 0);
const bytes = all.reduce((sum, one) => sum + one.bytes, 0);
console.log(JSON.stringify({ seconds, deliveries, bytes }));
