// Exchange: one request to the backend and its whole reply. Rules: http.ts.
import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Clock } from "@holdpoint/base/clock.ts";

export interface LineOptions {
  readonly endpoint: string;
  readonly connectionsMax: number;
  readonly userAgent: string;
  readonly httpsProxy: string | null;
  readonly noProxy: string | null;
}

/** The connections to one backend. */
export interface BackendLine {
  readonly clock: Clock;
  readonly base: string;
  readonly secure: boolean;
  readonly userAgent: string;
  readonly agent: HttpAgent;
}

export interface BackendRequest {
  readonly path: string;
  readonly method: string;
  readonly headers: Record<string, string | number>;
  readonly body?: Buffer;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** A reply above REPLY_BYTES_MAX is cut off there, instead of a failure. */
  readonly isReplyCut?: boolean;
}

interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  readonly bytes: Buffer;
}

interface ReplyEnd {
  readonly resolve: (bytes: Buffer) => void;
  readonly fail: (error: Error) => void;
  readonly isCut: boolean;
}

const REPLY_BYTES_MAX = 64 * 1024;

export function createLine(options: LineOptions, clock: Clock): BackendLine {
  const base = options.endpoint.replace(/\/+$/, "");
  const secure = base.startsWith("https:");
  const pooling = { keepAlive: true, maxSockets: options.connectionsMax, scheduling: "lifo" as const };
  const proxyEnv: Record<string, string> = {};
  if (options.httpsProxy !== null) proxyEnv["HTTPS_PROXY"] = options.httpsProxy;
  if (options.noProxy !== null) proxyEnv["NO_PROXY"] = options.noProxy;
  const agent = secure ? new HttpsAgent({ ...pooling, proxyEnv }) : new HttpAgent(pooling);
  return { clock, base, secure, userAgent: options.userAgent, agent };
}

export function exchange(line: BackendLine, asked: BackendRequest): Promise<Reply> {
  const { isReplyCut: isCut = false, method, signal, timeoutMs } = asked;
  return new Promise((resolve, reject) => {
    const send = line.secure ? httpsRequest : httpRequest;
    const headers = { "user-agent": line.userAgent, "accept-encoding": "identity", ...asked.headers };
    let request: ClientRequest;
    let cancelTimer = (): void => undefined;
    const fail = (error: Error): void => {
      cancelTimer();
      request.destroy();
      reject(error);
    };
    try {
      request = send(line.base + asked.path, { method, agent: line.agent, headers, signal });
    } catch (error) {
      return reject(error instanceof Error ? error : new Error("the request cannot be made"));
    }
    cancelTimer = line.clock.after(timeoutMs, () => fail(new Error(`no reply within ${timeoutMs} ms`)));
    request.once("error", fail);
    request.once("response", (response) => {
      const whole = (bytes: Buffer): void => {
        cancelTimer();
        const { headers: replyHeaders, statusCode: status = 0 } = response;
        const settle = (): void => resolve({ status, headers: replyHeaders, text: bytes.toString("utf8"), bytes });
        if (request.writableFinished) return settle();
        request.off("error", fail).once("close", settle).destroy(); // backend/http.5: the reply came before the end of the request
      };
      readReply(response, { resolve: whole, fail, isCut });
    });
    request.end(asked.body);
  });
}

function readReply(response: IncomingMessage, { fail, isCut, resolve }: ReplyEnd): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= REPLY_BYTES_MAX) chunks.push(chunk);
    else if (isCut) {
      resolve(Buffer.concat(chunks));
      response.destroy();
    } else fail(new Error(`the reply is larger than ${REPLY_BYTES_MAX} bytes`));
  });
  response.once("aborted", () => fail(new Error("the reply was cut off")));
  response.once("error", fail);
  response.once("end", () => resolve(Buffer.concat(chunks)));
}
