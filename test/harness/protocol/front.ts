// A front: one address for servers that come and go, as a balancer gives it to a page that stays open.
//   front.1. A connection goes to the server that serves at its begin. When that server dies, its connections break.
//   front.2. Without a server, connections wait for one: clients give up after some attempts, and a busy machine may
//        take longer to start a server.
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export interface Front {
  readonly url: string;
  /** Connections go there from now on; null: to none. */
  to(server: { readonly url: string } | null): void;
  /** Breaks all connections, as a proxy does that restarts. */
  cut(): void;
  close(): Promise<void>;
}

export async function startFront(): Promise<Front> {
  const open = new Set<Socket>();
  let waiting: Socket[] = [];
  let port: number | null = null;
  const join = (socket: Socket, target: number): void => {
    const behind = connect(target, "127.0.0.1");
    for (const one of [socket, behind]) {
      open.add(one);
      one.on("error", () => undefined);
      one.once("close", () => {
        open.delete(one);
        socket.destroy();
        behind.destroy();
      });
    }
    socket.pipe(behind).pipe(socket);
  };
  const server = createServer((socket) => {
    if (port !== null) return join(socket, port);
    socket.on("error", () => undefined);
    waiting.push(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    to(target) {
      port = target === null ? null : Number(new URL(target.url).port);
      if (port === null) return;
      const sockets = waiting;
      waiting = [];
      for (const socket of sockets) join(socket, port);
    },
    cut() {
      for (const socket of open) socket.destroy();
    },
    async close() {
      server.close();
      for (const socket of [...open, ...waiting]) socket.destroy();
      await once(server, "close");
    },
  };
}
