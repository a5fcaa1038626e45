// A proxy in front of PostgreSQL that cuts a connection at its COMMIT: before the database has it, after, or on its way.
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export interface PostgresProxy {
  readonly uri: string;
  /**
   * What becomes of the next COMMIT, and of its connection. `before`: the database never gets it. `after`: it has answered,
   * and the answer is kept back. `late`: it gets it when deliver() is called.
   */
  cut: "never" | "before" | "after" | "late";
  deliver(): void;
  /** How many were cut. */
  readonly cuts: () => number;
  close(): Promise<void>;
}

const COMMIT = Buffer.from("COMMIT\0");

export async function startPostgresProxy(to: string): Promise<PostgresProxy> {
  const target = new URL(to);
  const sockets = new Set<Socket>();
  let cuts = 0;
  let late: () => void = () => undefined;
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    let deaf = false;
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        if (!deaf) other.destroy();
      });
    }
    far.on("data", (bytes: Buffer) => void (deaf ? near.destroy() : near.write(bytes)));
    near.on("data", (bytes: Buffer) => {
      if (proxy.cut === "never" || !bytes.includes(COMMIT)) {
        far.write(bytes);
        return;
      }
      cuts++;
      deaf = true;
      if (proxy.cut === "after") far.end(bytes);
      else near.destroy();
      if (proxy.cut === "before") far.destroy();
      if (proxy.cut === "late") late = () => far.end(bytes);
      proxy.cut = "never";
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const uri = new URL(to);
  uri.port = String((server.address() as AddressInfo).port);
  const proxy: PostgresProxy = {
    uri: uri.href,
    cut: "never",
    cuts: () => cuts,
    deliver: () => late(),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
  return proxy;
}
