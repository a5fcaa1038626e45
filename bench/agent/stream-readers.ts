// Many readers of one stream: counts the events of each, in order, from the opening of the gate until the last has all.
// Arguments: url of the stream, number of readers, events expected by each, gate (a file to create, or a URL to post
// to).
// Prints one JSON line.
import { writeFileSync } from "node:fs";
import { Agent, get, request, type IncomingMessage } from "node:http";

const [url = "", readers = "100", expected = "10000", gate = ""] = process.argv.slice(2);
const agent = new Agent({ keepAlive: false });

interface Reader {
  /** The id of the last event. */
  last: number;
  events: number;
  bytes: number;
  readonly ended: Promise<void>;
}

/** Resolves when the reader has its first event. */
function open(): Promise<Reader> {
  return new Promise((resolve, reject) => {
    get(url, { agent, headers: { "last-event-id": "-1" } }, (response) => {
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      const reader: Reader = { last: -1, events: 0, bytes: 0, ended };
      follow(response, reader, () => resolve(reader)).then(end, reject);
    }).on("error", reject);
  });
}

async function follow(response: IncomingMessage, reader: Reader, onFirst: () => void): Promise<void> {
  let rest = "";
  for await (const piece of response as AsyncIterable<Buffer>) {
    reader.bytes += piece.length;
    const text = rest + piece.toString("latin1");
    let at = 0;
    for (;;) {
      const found = text.indexOf("\nid: ", at);
      const end = found < 0 ? -1 : text.indexOf("\n\n", found);
      if (end < 0) break;
      const id = Number(text.slice(found + 5, end));
      if (id !== reader.last + 1) throw new Error(`event ${id} came after event ${reader.last}`);
      reader.last = id;
      reader.events++;
      at = end + 1;
    }
    rest = text.slice(at);
    if (reader.events > 0) onFirst();
  }
}

const all = await Promise.all(Array.from({ length: Number(readers) }, open));
const startedAt = performance.now();
if (gate.startsWith("http")) request(gate, { method: "POST", agent }).end();
else writeFileSync(gate, "");
await Promise.all(all.map(({ ended }) => ended));
const seconds = (performance.now() - startedAt) / 1000;
for (const { events } of all) {
  if (events < Number(expected)) throw new Error(`a reader got ${events} events instead of ${expected}`);
}
const deliveries = all.reduce((sum, { events }) => sum + events, 0);
const bytes = all.reduce((sum, reader) => sum + reader.bytes, 0);
console.log(JSON.stringify({ seconds, deliveries, bytes }));
