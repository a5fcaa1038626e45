// The promises, asked of Holdpoint and of its peers in one go: `npm run promises:peers`. Each has the storage that
// its own documents recommend. Writes the table between the marks of docs/concepts/comparison.md.
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { awaitStart, copyGraphs, installPeers, PEERS, readPeerVersion, startPeer } from "../../bench/agent/peer.ts";
import type { PeerKind, Started } from "../../bench/agent/peer.ts";
import { newDatabase } from "../../bench/agent/postgres.ts";
import { writeBetweenMarks } from "../../bench/table.ts";
import { freePort } from "../harness/postgres/free-port.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres/server.ts";
import { askPromises, type Row } from "./promises.mjs";
import { makeTable, type Asked } from "./table.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = join(ROOT, "docs/concepts/comparison.md");

interface Place {
  /** Folder of its graphs: `graphs` or `changed`. */
  readonly graphs: string;
  readonly port: number;
  readonly dataFolder: string;
}

interface Candidate {
  readonly name: string;
  readonly storage: string;
  /** Two processes share it. */
  readonly isShared: boolean;
  readonly start: (place: Place) => Promise<Started>;
}

function startHoldpoint(
  { graphs, port, dataFolder }: Place,
  env: Readonly<Record<string, string>> = {},
): Promise<Started> {
  const config = join(import.meta.dirname, graphs, "langgraph.json");
  const args = [join(ROOT, "packages/holdpoint/src/main.ts"), "serve", "--config", config];
  const own = { PORT: String(port), HOLDPOINT_DATA_DIR: dataFolder, LOG_LEVEL: "error" };
  const child = spawn(process.execPath, args, { stdio: "ignore", env: { ...process.env, ...own, ...env } });
  return awaitStart(child, `http://127.0.0.1:${port}`);
}

function startOther(kind: PeerKind, { graphs, ...place }: Place, env: Readonly<Record<string, string>> = {}) {
  return startPeer({ kind, graphs: join(ROOT, "bench/peers/.graphs/promises", graphs), ...place, env });
}

async function listCandidates(postgres: PostgresServer): Promise<readonly Candidate[]> {
  const version = (name: string): string => readPeerVersion(name);
  const own = (JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { readonly version: string }).version;
  const [reference, other] = [PEERS.reference, PEERS["pure-graph"]];
  const [ownUri, otherUri] = [await newDatabase(postgres, "own"), await newDatabase(postgres, "other")];
  const sqlite = { SQLITE_DATABASE_URI: "./chat.db", CHECKPOINT_TYPE: "sqlite" };
  return [
    { name: `Holdpoint ${own}`, storage: "SQLite", isShared: false, start: (place) => startHoldpoint(place) },
    {
      name: `Holdpoint ${own}`,
      storage: "PostgreSQL, two processes",
      isShared: true,
      start: (place) => startHoldpoint(place, { DATABASE_URI: ownUri }),
    },
    {
      name: `${reference.name} ${version(reference.package)}`,
      storage: "its file",
      isShared: false,
      start: (place) => startOther("reference", place),
    },
    {
      name: `${other.name} ${version(other.package)}`,
      storage: "SQLite",
      isShared: false,
      start: (place) => startOther("pure-graph", place, sqlite),
    },
    {
      name: `${other.name} ${version(other.package)}`,
      storage: "PostgreSQL, two processes",
      isShared: true,
      start: (place) => startOther("pure-graph", place, { DATABASE_URL: otherUri, DATABASE_INIT: "true" }),
    },
  ];
}

async function askCandidate({ start, isShared }: Candidate): Promise<readonly Row[]> {
  const dataFolder = mkdtempSync(join(tmpdir(), "promises-"));
  const place = { port: await freePort(), dataFolder };
  let server = await start({ ...place, graphs: "graphs" });
  const second = isShared ? await start({ port: await freePort(), dataFolder, graphs: "graphs" }) : undefined;
  try {
    return await askPromises({
      url: server.url,
      second: second?.url,
      async restart(graphs, signal) {
        await server.kill(signal);
        server = await start({ ...place, graphs });
      },
      onRow: ({ name, kept, reason, request }) =>
        console.log(
          [`  ${kept === null ? "—" : kept ? "yes" : "no"}  ${name}`, reason, request].filter(Boolean).join("\n      "),
        ),
    });
  } finally {
    for (const one of [server, second]) await one?.kill();
    rmSync(dataFolder, { recursive: true, force: true });
  }
}

installPeers();
const copied = copyGraphs(join(import.meta.dirname, "graphs"), "promises/graphs");
cpSync(join(import.meta.dirname, "changed"), join(copied, "../changed"), { recursive: true });
mkdirSync(join(ROOT, "dist"), { recursive: true });
const postgres = await startPostgres();
try {
  const all: Asked[] = [];
  for (const candidate of await listCandidates(postgres)) {
    console.log(`${candidate.name}, ${candidate.storage}`);
    const { name, storage } = candidate;
    all.push({ name, storage, rows: await askCandidate(candidate) });
  }
  writeFileSync(join(ROOT, "dist/promises.json"), JSON.stringify(all, null, 2));
  writeBetweenMarks(PAGE, "promises", makeTable(all, readPeerVersion("@langchain/langgraph")));
} finally {
  await postgres.stop();
}
