// A fleet: some server processes on one database, with the graphs of the fault tests, their effects and their gates.
import { join } from "node:path";
import { Bench } from "./fault-server.ts";
import { newDatabase } from "../postgres/databases.ts";
import type { ServerHere, ServerHereOptions } from "../server-here.ts";
import { ROOT, startServer, type TestServer } from "../server.ts";

export type Role = "all" | "api" | "worker";

export class Fleet {
  /** Effects and gates of all servers; its own server is the one that calls go to. */
  readonly bench = new Bench();
  private uri: Promise<string> | null;
  private readonly servers = new Set<TestServer>();
  private readonly here: ServerHere[] = [];

  /** @param uri of a database that the test controls */
  constructor(uri?: string) {
    this.uri = uri === undefined ? null : Promise.resolve(uri);
  }

  /** The database that they share. */
  database(): Promise<string> {
    return (this.uri ??= newDatabase());
  }

  async start(role: Role, env: Readonly<Record<string, string>> = {}): Promise<TestServer> {
    const server = await startServer(await this.options(role, env));
    this.servers.add(server);
    return server;
  }

  private async options(role: Role, env: Readonly<Record<string, string>>) {
    return {
      dataDir: join(this.bench.folder, "unused"),
      config: join(ROOT, "test", "faults", "graphs", "langgraph.json"),
      env: {
        DATABASE_URI: await this.database(),
        HOLDPOINT_ROLE: role,
        FAULT_TEST_FOLDER: this.bench.folder,
        LOG_LEVEL: "info",
        ...env,
      },
    };
  }

  /** In the process of the test, at a tenth of the cost: for a file that kills none. */
  async startHere(
    role: Role,
    env: Readonly<Record<string, string>> = {},
    limits: ServerHereOptions["limits"] = {},
  ): Promise<ServerHere> {
    const { startServerHere } = await import("../server-here.ts");
    process.env["FAULT_TEST_FOLDER"] = this.bench.folder; // the graphs read it at each step
    const server = await startServerHere({ ...(await this.options(role, env)), limits });
    this.here.push(server);
    return server;
  }

  /** Calls of the bench go to this one from now on. */
  use(server: ServerHere): void {
    this.bench.adopt(server);
  }

  async end(): Promise<void> {
    for (const server of this.here) await server.stop();
    for (const server of this.servers) if (server.process.exitCode === null) await server.kill();
    await this.bench.end();
  }
}
