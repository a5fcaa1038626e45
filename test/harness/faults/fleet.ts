// A fleet: some server processes on one database, with the graphs of the fault tests, their effects and their gates.
import { join } from "node:path";
import { Bench } from "./fault-server.ts";
import { newDatabase } from "../postgres/databases.ts";
import { ROOT, startServer, type TestServer } from "../server.ts";

export type Role = "all" | "api" | "worker";

export class Fleet {
  /** Effects and gates of all servers; its own server is the one that calls go to. */
  readonly bench = new Bench();
  private uri: Promise<string> | null;
  private readonly servers = new Set<TestServer>();

  /** @param uri of a database that the test controls */
  constructor(uri?: string) {
    this.uri = uri === undefined ? null : Promise.resolve(uri);
  }

  /** The database that they share. */
  database(): Promise<string> {
    return (this.uri ??= newDatabase());
  }

  async start(role: Role, env: Readonly<Record<string, string>> = {}): Promise<TestServer> {
    const server = await startServer({
      dataDir: join(this.bench.folder, "unused"),
      config: join(ROOT, "test", "faults", "graphs", "langgraph.json"),
      env: {
        DATABASE_URI: await this.database(),
        HOLDPOINT_ROLE: role,
        FAULT_TEST_FOLDER: this.bench.folder,
        LOG_LEVEL: "info",
        ...env,
      },
    });
    this.servers.add(server);
    return server;
  }

  /** Calls of the bench go to this one from now on. */
  use(server: TestServer): void {
    this.bench.adopt(server);
  }

  async end(): Promise<void> {
    for (const server of this.servers) if (server.process.exitCode === null) await server.kill();
    await this.bench.end();
  }
}
