// Raw: requests that fetch() would tidy up before it sends them: odd paths, headers of our choice, bodies in pieces.
import { request, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { connect } from "node:net";

export interface RawRequest {
  readonly method?: string;
  /** Sent as it is. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A list goes out in chunks, without Content-Length. */
  readonly body?: string | Buffer | readonly string[];
  /** Called with the text that has arrived, after each piece. */
  readonly onText?: (text: string) => void;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The pieces as they arrived. */
  readonly pieces: readonly string[];
}

/** Sends these bytes unchanged, returns the head of the reply, and closes the connection. */
export function rawHead(server: { readonly url: string }, bytes: string): Promise<string> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    let text = "";
    socket.setEncoding("latin1").on("data", (piece: string) => {
      text += piece;
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) return;
      resolve(text.slice(0, end));
      socket.destroy();
    });
    socket.once("error", reject).once("close", () => reject(new Error(`no reply: ${text}`)));
  });
}

const JSON_TYPE = { "content-type": "application/json" };

export async function raw(server: { readonly url: string }, given: RawRequest): Promise<RawAnswer> {
  const { hostname, port } = new URL(server.url);
  const { body } = given;
  const outgoing = request({
    hostname,
    port,
    path: given.path,
    method: given.method ?? (body === undefined ? "GET" : "POST"),
    headers: { ...(body === undefined ? {} : JSON_TYPE), ...given.headers },
  });
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once("response", resolve);
    outgoing.once("error", reject);
  });
  if (typeof body === "string" || Buffer.isBuffer(body)) outgoing.setHeader("content-length", Buffer.byteLength(body));
  for (const piece of typeof body === "string" || Buffer.isBuffer(body) ? [body] : (body ?? [])) outgoing.write(piece);
  outgoing.end();
  const incoming = await answer;
  const pieces: string[] = [];
  incoming.setEncoding("utf8");
  for await (const piece of incoming as AsyncIterable<string>) {
    pieces.push(piece);
    given.onText?.(pieces.join(""));
  }
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, text: pieces.join(""), pieces };
}
