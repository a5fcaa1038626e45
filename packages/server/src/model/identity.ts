// Identity: people who have signed in, their sessions, and the keys of programs.
import type { JsonObject } from "@holdpoint/base/json/json.ts";

/** From the fewest rights to all: each role from `viewer` on includes those before it, up to `viewer`. */
export const ROLES = ["requester", "viewer", "reviewer", "operator", "admin"] as const;

export type Role = (typeof ROLES)[number];

/** Limits of a role; null for none. */
export interface RoleLimits {
  /** Ids of assistants. */
  readonly assistants: readonly string[] | null;
  /** Members that the metadata has. */
  readonly metadata: JsonObject;
}

/** A person who has signed in at least once. */
export interface Person {
  /** Identity: the name in audit trails, claims and assignments. Unique, and stays as it was at the first sign-in. */
  readonly name: string;
  /** Issuer and subject of the OpenID provider: together unique. */
  readonly issuer: string;
  readonly subject: string;
  readonly displayName: string;
  /** Null without one, and while the provider reports it as unverified. */
  readonly email: string | null;
  readonly groups: readonly string[];
  readonly createdAt: number;
  /** Last sign-in or use of a session, within a minute. */
  readonly seenAt: number;
}

/** A signed-in browser. Tokens are stored as hashes only. */
export interface Session {
  readonly sessionId: string;
  /** Name of the person. */
  readonly person: string;
  readonly tokenHash: string;
  /** The token before the last rotation; null without one. */
  readonly previousHash: string | null;
  /** End of the time in which the previous token is still accepted; null until the new one has been used. */
  readonly previousUntil: number | null;
  readonly rotatedAt: number;
  /** Session id of the provider (`sid`), for its back-channel logout. */
  readonly providerSession: string | null;
  /** ID token for the logout at the provider (`id_token_hint`), sealed with the session's token; empty without one. */
  readonly sealedIdToken: string;
  /** Claims that roles depend on. */
  readonly claims: JsonObject;
  readonly createdAt: number;
  /** Last use, within a minute. */
  readonly usedAt: number;
  /** End of the session, however much it is used. */
  readonly expiresAt: number;
}

/** A key of a program, made by an administrator. */
export interface StoredKey {
  readonly keyId: string;
  readonly name: string;
  readonly hash: string;
  readonly role: Role;
  readonly limits: RoleLimits;
  readonly createdBy: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  /** Last use, within a minute; null before the first. */
  readonly usedAt: number | null;
}
