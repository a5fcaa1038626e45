// Socket tickets: one-use credentials in the address of a WebSocket, for pages whose sockets can send no headers.
// Invariants:
//   socket-tickets.1. A ticket opens one socket of one thread, within TICKET_MS. The storage decides, so one process wins.
//   socket-tickets.2. A ticket stands for the headers of the call that requested it: they authenticate the socket, at its
//        begin and at every renewed check. A key that is withdrawn closes the socket.
//   socket-tickets.3. The storage has a digest of the ticket, and the headers encrypted with a key that only the ticket
//        gives. A ticket is in no log.
//   socket-tickets.4. A caller has at most TICKETS_MAX unused tickets.
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { AgentContext } from "../context/context.ts";
import type { Caller } from "../model/model.ts";
import type { AccessRequest } from "../ports/ports.ts";

const TICKET_MS = 30_000;
const TICKET_BYTES = 32;
const TICKETS_MAX = 64;
const TICKET = /^[\w-]{43}$/;

type Headers = AccessRequest["headers"];

export interface IssuedTicket {
  readonly ticket: string;
  readonly expiresAt: number;
}

/** @throws {ApiError} `too_many_tickets` */
export async function issueTicket(
  { storage, clock }: AgentContext,
  threadId: string,
  caller: Caller,
  headers: Headers,
): Promise<IssuedTicket> {
  const ticket = randomBytes(TICKET_BYTES).toString("base64url");
  const { digest, key } = deriveSecrets(ticket, threadId);
  const now = clock.now();
  const expiresAt = now + TICKET_MS;
  await storage.transaction(async (tx) => {
    await tx.deleteSocketTicketsBefore(now);
    if ((await tx.countSocketTickets(caller.name)) >= TICKETS_MAX) {
      const detail = `The caller has ${TICKETS_MAX} unused tickets; each expires ${TICKET_MS / 1000} seconds after its creation.`;
      throw new ApiError("too_many_tickets", detail, {}, { "Retry-After": "5" }); // socket-tickets.4
    }
    await tx.putSocketTicket({ digest, caller: caller.name, headers: sealed(credentialsIn(headers), key), expiresAt });
  });
  return { ticket, expiresAt };
}

/** @returns the headers that the ticket stands for @throws {ApiError} `unauthenticated` */
export async function redeemTicket(
  { storage, clock }: AgentContext,
  threadId: string,
  ticket: string,
): Promise<Headers> {
  const { digest, key } = deriveSecrets(ticket, threadId);
  const stored = TICKET.test(ticket) ? await storage.transaction((tx) => tx.takeSocketTicket(digest)) : null; // socket-tickets.1
  if (stored === null || stored.expiresAt <= clock.now()) {
    throw new ApiError("unauthenticated", "The ticket is unknown, used or expired; request another one.");
  }
  return opened(stored.headers, key);
}

/** socket-tickets.3. */
function deriveSecrets(ticket: string, threadId: string): { readonly digest: string; readonly key: Buffer } {
  const derived = (purpose: string): Buffer => createHmac("sha256", ticket).update(`${purpose} ${threadId}`).digest();
  return { digest: derived("digest").toString("hex"), key: derived("key") };
}

/** Headers that describe the message or its connection, and not the caller. */
const NOT_CARRIED =
  /^(host|origin|connection|upgrade|keep-alive|transfer-encoding|idempotency-key|(content|sec|accept)-.*|accept)$/;

function credentialsIn(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_CARRIED.test(name)));
}

const CIPHER = "aes-256-gcm";
/** Each key encrypts one text. */
const NONCE = Buffer.alloc(12);
const TAG_BYTES = 16;

function sealed(headers: Headers, key: Buffer): string {
  const cipher = createCipheriv(CIPHER, key, NONCE);
  const text = Buffer.concat([cipher.update(JSON.stringify(headers), "utf8"), cipher.final()]);
  return Buffer.concat([cipher.getAuthTag(), text]).toString("base64");
}

function opened(text: string, key: Buffer): Headers {
  const bytes = Buffer.from(text, "base64");
  const decipher = createDecipheriv(CIPHER, key, NONCE).setAuthTag(bytes.subarray(0, TAG_BYTES));
  const json = Buffer.concat([decipher.update(bytes.subarray(TAG_BYTES)), decipher.final()]).toString("utf8");
  return JSON.parse(json) as Headers;
}
