// An HTTP proxy for tests that supports CONNECT only, and records the bytes it could have read.
import { createServer, type IncomingHttpHeaders } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

export interface ConnectProxy {
  readonly url: string;
  /** Every CONNECT: where to, with which headers. */
  readonly asked: { readonly target: string; readonly headers: IncomingHttpHeaders }[];
  /** Requests that came without a tunnel. */
  readonly plain: string[];
  /** Everything that went through, both ways. */
  readonly seen: () => Buffer;
  /** Any status but 200 makes no tunnel. */
  status: number;
  close(): Promise<void>;
}

export async function startConnectProxy(): Promise<ConnectProxy> {
  const chunks: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    proxy.plain.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
    response.writeHead(502).end();
  });
  server.on("connect", (request, client: Socket, head: Buffer) => {
    const target = request.url ?? "";
    proxy.asked.push({ target, headers: request.headers });
    client.on("error", () => undefined);
    sockets.add(client);
    if (proxy.status !== 200) {
      client.end(`HTTP/1.1 ${proxy.status} No\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const [host = "", port = ""] = target.split(":");
    const upstream = connect(Number(port), host, () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.write(head);
    });
    upstream.on("error", () => client.destroy());
    sockets.add(upstream);
    chunks.push(head);
    for (const socket of [client, upstream]) socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy: ConnectProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    plain: [],
    seen: () => Buffer.concat(chunks),
    status: 200,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return proxy;
}
