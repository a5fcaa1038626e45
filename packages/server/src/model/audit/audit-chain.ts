// Audit chain: each audit entry holds the hash of the one before, so that a changed or missing entry shows.
//   digest   SHA-256 of the content of an entry, its time and its thread: "<64 hex digits> <ms> <thread id>"
//   cut-off  in place of a digest, with the number 0: entries of a thread before a time were deleted by age
//   erasure  in place of a digest, with the number 0: an entry has another content since a person was erased from it
//   hash     SHA-256 of the hash before, the position in the chain, the number in the thread, and the digest
// Invariants:
//   - The digest covers the entry as a reader of the trail gets it; equal entries have equal digests on every storage.
//   - A deleted entry leaves its position, number and digest, so that the chain past it can be verified, and its thread
//     and time, so that its deletion can be.
//   - The head of a chain has its count and its last hash: an entry that is missing at the end shows too.
//   - A deletion by age is a link of the chain itself: nobody can move the cut-off without a trace.
//   - So is the erasure of a person from an entry: the entry keeps its digest in the chain, and its content must have
//     the digest that an erasure of the chain notes.
import { hash } from "node:crypto";
import type { AuditEntry } from "../interrupt.ts";

/** The number of no chain. */
export const NO_CHAIN = 0;

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
  /** Number within the thread; 0 for a cut-off or an erasure. */
  readonly seq: number;
  readonly digest: string;
  /** Null once the entry is deleted. */
  readonly entry: { readonly previous: string; readonly content: AuditEntry } | null;
  /** Thread and time of a deleted entry, or of a cut-off. */
  readonly gone: AuditTrace | null;
}

export interface AuditTrace {
  readonly threadId: string;
  readonly at: number;
}

const SHA_DIGITS = 64;

export function auditDigest(entry: AuditEntry): string {
  const { threadId, at, action, by, interruptId, runId, value, via, origin } = entry;
  const policy = origin?.policyId === undefined ? [] : [origin.policyId];
  const from = origin === undefined ? null : [origin.address, origin.userAgent, ...policy];
  const author = by.toWellFormed(); // as the embedded database stores it
  const content = JSON.stringify([threadId, at, action, author, interruptId, runId, via ?? null, from, value]);
  return `${hash("sha256", content)} ${at} ${threadId}`;
}

/** PostgreSQL composes the same (holdpoint.note_cut_off). */
export const cutOffDigest = ({ threadId, at }: AuditTrace): string => `cut-off ${at} ${threadId}`;

/** An entry whose content was replaced, by its place. */
export interface ErasedEntry {
  readonly chain: number;
  readonly position: number;
  readonly threadId: string;
  /** That of the new content. */
  readonly digest: string;
}

export const erasureDigest = ({ chain, position, digest }: ErasedEntry): string =>
  `erased ${chain} ${position} ${digest}`;

const isErasure = (digest: string, { threadId, at }: AuditTrace): boolean =>
  at === 0 && digest.startsWith("erased ") && digest.endsWith(` ${threadId}`);

/** Whether a deleted entry, or a cut-off, is about this thread and time as far as its digest says. */
export function isGoneTrace({ seq, digest, gone }: AuditLink): boolean {
  if (seq === 0) return gone !== null && (digest === cutOffDigest(gone) || isErasure(digest, gone));
  return gone !== null && digest.slice(SHA_DIGITS) === ` ${gone.at} ${gone.threadId}`;
}

/** The hash of an entry. PostgreSQL computes the same (holdpoint.append_audit). */
export function auditHash(
  previous: string,
  { position, seq, digest }: Pick<AuditLink, "position" | "seq" | "digest">,
): string {
  return hash("sha256", `${previous} ${position} ${seq} ${digest}`);
}
