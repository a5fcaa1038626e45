// Benchmark of lists: the inbox and thread search, over many paused threads next to a hundred. It calls both servers in
// turn, one call at a time, so that other load on the machine affects both alike.
import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";
import { TEAMS } from "./many-paused.ts";
import { median } from "../measure.ts";
import type { MeasuredServer } from "./server.ts";
import type { Note } from "../table.ts";

interface List {
  readonly what: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: object;
  /** Rows of the page, over a hundred threads and over many. */
  readonly rows: number;
}

const team = { team: 3 };
const inbox = (what: string, query: Readonly<Record<string, string>>, rows: number): List => {
  const path = `/inbox?${new URLSearchParams({ limit: "10", ...query }).toString()}`;
  return { what: `GET /inbox${what}`, method: "GET", path, rows };
};
const search = (what: string, body: object, rows: number): List => {
  return { what: `thread search${what}`, method: "POST", path: "/threads/search", body, rows };
};

const LISTS: readonly List[] = [
  inbox("", {}, 10),
  inbox(" by graph", { graph_id: "bench" }, 10),
  inbox(" by metadata", { metadata: JSON.stringify(team) }, 100 / TEAMS),
  search(" by metadata", { metadata: team }, 100 / TEAMS),
  search(" by metadata and status", { metadata: { graph_id: "bench" }, status: "interrupted" }, 10),
  search(" by two of metadata", { metadata: { ...team, graph_id: "bench" } }, 100 / TEAMS),
  search(" for one", { metadata: { customer: 33, ...team } }, 1),
];

export async function measureLists(
  note: Note,
  servers: { readonly few: MeasuredServer; readonly lots: MeasuredServer; readonly many: number },
  rounds: number,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = async (server: MeasuredServer, { method, path, body, rows }: List): Promise<number> => {
    const payload = body === undefined ? "" : JSON.stringify(body);
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(payload) };
    const startedAt = performance.now();
    const reply = await new Promise<string>((resolve, reject) => {
      const call = request(`${server.url}${path}`, { method, agent, headers }, (got) => {
        text(got).then(resolve, reject);
      });
      call.on("error", reject).end(payload);
    });
    const took = performance.now() - startedAt;
    const parsed = JSON.parse(reply) as readonly unknown[] | { readonly items: readonly unknown[] };
    const found = "items" in parsed ? parsed.items.length : parsed.length;
    if (found !== rows) throw new Error(`${path} found ${found} rows instead of ${rows}: ${reply.slice(0, 200)}`);
    return took;
  };
  for (const list of LISTS) {
    const [few, lots]: [number[], number[]] = [[], []];
    for (let round = -rounds / 10; round < rounds / 2; round++) {
      const [a, b] = [await ask(servers.few, list), await ask(servers.lots, list)];
      if (round < 0) continue; // warming up
      few.push(a);
      lots.push(b);
    }
    const [ofFew, ofLots] = [median(few), median(lots)];
    note({
      what: `${list.what}, ${servers.many} paused / 100`,
      measured: `${ofLots.toFixed(2)} / ${ofFew.toFixed(2)} ms`,
      ratio: ofLots / ofFew,
      asked: "at most 2",
    });
  }
  agent.destroy();
}
