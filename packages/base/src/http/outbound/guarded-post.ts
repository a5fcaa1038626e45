// Guarded post: one POST to a URL that an outside caller chose.
// Invariants:
//   guarded-post.1. The name resolves once. The connection uses the checked address, even if the DNS answer changes
//        later.
//   guarded-post.2. One disallowed address rejects the name with all its addresses.
//   guarded-post.3. Redirects are not followed: the result is a status, and the wait that the receiver asks for.
//   guarded-post.4. It ends within `timeoutMs` and reads at most `replyBytesMax`. It never throws.
import { lookup } from "node:dns/promises";
import type { ClientRequest, IncomingMessage } from "node:http";
import { isIP, type LookupFunction } from "node:net";
import type { Clock } from "../../clock.ts";
import { readRetryAfter } from "../../retry-after.ts";
import { isAllowedAddress } from "./public-address.ts";
import { checkOutboundUrl, readHost, type OutboundRules } from "./outbound-url.ts";

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type PostOutcome =
  /** `afterMs`: the wait that the receiver asks for. */
  | { readonly kind: "replied"; readonly status: number; readonly afterMs?: number }
  | { readonly kind: "failed"; readonly reason: string }
  /** The rules reject it: a retry cannot succeed. */
  | { readonly kind: "refused"; readonly reason: string };

export interface PostLimits {
  readonly timeoutMs: number;
  readonly replyBytesMax: number;
}

/** All addresses of a name. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export const resolveHost: Resolve = async (host) => (await lookup(host, { all: true })).map(({ address }) => address);

export async function guardedPost(
  post: Post,
  rules: OutboundRules,
  limits: PostLimits & { readonly signal: AbortSignal },
  ports: { readonly resolve: Resolve; readonly clock: Clock },
): Promise<PostOutcome> {
  const checked = checkOutboundUrl(post.url, rules);
  if (checked.kind === "refused") return checked;
  const deadline = new AbortController();
  const cancelTimer = ports.clock.after(limits.timeoutMs, () => deadline.abort());
  const either = AbortSignal.any([limits.signal, deadline.signal]);
  try {
    const host = readHost(checked.url);
    const addresses = isIP(host) > 0 ? [host] : await Promise.race([ports.resolve(host), rejectsOn(either)]);
    const wrong = addresses.find((address) => !isAllowedAddress(address, checked.open));
    if (wrong !== undefined) return { kind: "refused", reason: `${host} resolves to ${wrong}, which is not allowed` }; // guarded-post.2
    const [address] = addresses;
    if (address === undefined) return { kind: "failed", reason: `${host} has no address` };
    const reply = await exchange({ url: checked.url, address }, post, limits.replyBytesMax, either);
    const afterMs = readRetryAfter(reply.headers, ports.clock.now());
    return { kind: "replied", status: reply.status, ...(afterMs === null ? {} : { afterMs }) };
  } catch (error) {
    if (deadline.signal.aborted) return { kind: "failed", reason: `no reply within ${limits.timeoutMs} ms` };
    const code = error instanceof Error && "code" in error ? String(error.code) : null;
    return { kind: "failed", reason: code ?? (error instanceof Error ? error.message : "request failed") };
  } finally {
    cancelTimer();
  }
}

interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
}

function rejectsOn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(new Error("request aborted"));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

/** @returns status and headers, once the reply ends or reaches its limit. */
function exchange(
  { url, address }: { readonly url: URL; readonly address: string },
  post: Post,
  replyBytesMax: number,
  signal: AbortSignal,
): Promise<Reply> {
  const pinned: LookupFunction = (_host, options, callback) => {
    const family = isIP(address);
    if (options.all === true) callback(null, [{ address, family }]);
    else callback(null, address, family); // guarded-post.1
  };
  // On use: both modules load much that a start does not need.
  const { request: send } = process.getBuiltinModule(url.protocol === "https:" ? "node:https" : "node:http");
  return new Promise<Reply>((resolve, reject) => {
    const request: ClientRequest = send(url, {
      method: "POST",
      agent: false,
      lookup: pinned,
      signal,
      headers: { ...post.headers, "content-length": Buffer.byteLength(post.body), connection: "close" },
    });
    request.once("error", reject);
    request.once("response", (response: IncomingMessage) => {
      const reply: Reply = { status: response.statusCode ?? 0, headers: response.headers }; // guarded-post.3
      let bytes = 0;
      const settle = (): void => {
        resolve(reply);
        request.destroy();
      };
      request.off("error", reject).on("error", settle); // the reply has started: its status counts
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > replyBytesMax) settle(); // guarded-post.4
      });
      response.once("end", settle).once("error", settle).once("aborted", settle);
    });
    request.end(post.body);
  });
}
