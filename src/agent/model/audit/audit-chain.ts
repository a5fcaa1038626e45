// Audit chain: each audit entry holds the hash of the one before, so that a changed or missing entry shows.
//   digest   SHA-256 of the content of an entry
//   hash     SHA-256 of the hash before, the position in the chain, the number in the thread, and the digest
// Invariants:
//   audit-chain.1. The digest covers the entry as a reader of the trail gets it; equal entries have equal digests on every storage.
//   audit-chain.2. A deleted entry leaves its position, number and digest, so that the chain past it can be verified.
//   audit-chain.3. The head of a chain has its count and its last hash: an entry that is missing at the end shows too.
import { hash } from "node:crypto";
import type { AuditEntry } from "../interrupt.ts";

/** Entries from before the chains, as one chain without hashes. */
export const UNCHAINED = 0;

export interface AuditHead {
  readonly chain: number;
  /** Entries so far, deleted ones included: the position of the last one. */
  readonly count: number;
  /** Hash of the last entry; empty at the start. */
  readonly hash: string;
}

/** One position of a chain. */
export interface AuditLink {
  readonly position: number;
  /** Number within the thread. */
  readonly seq: number;
  readonly digest: string;
  /** Null once the entry is deleted. */
  readonly entry: { readonly previous: string; readonly content: AuditEntry } | null;
}

/** audit-chain.1. */
export function auditDigest(entry: AuditEntry): string {
  const { threadId, at, action, by, interruptId, runId, value, via, origin } = entry;
  const from = origin === undefined ? null : [origin.address, origin.userAgent];
  const author = by.toWellFormed(); // as the embedded database stores it
  return hash("sha256", JSON.stringify([threadId, at, action, author, interruptId, runId, via ?? null, from, value]));
}

/** The hash of an entry. PostgreSQL computes the same (holdpoint.append_audit). */
export function auditHash(previous: string, { position, seq, digest }: Omit<AuditLink, "entry">): string {
  return hash("sha256", `${previous} ${position} ${seq} ${digest}`);
}
