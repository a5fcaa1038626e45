// Link token: the signed text of a one-use link, bound to one person and one question until a time. Pure.
// Invariants:
//   - The signature covers every member. A text of another form, or of another secret, is no token.
//   - A token names the question; that of an answer address one of its decisions, too. Otherwise the page asks for it.
import type { Choice } from "../items/item-view.ts";
import { createHmac, timingSafeEqual } from "node:crypto";
import { contentHash } from "@holdpoint/base/ids.ts";

export interface LinkToken {
  readonly threadId: string;
  readonly interruptId: string;
  /** Name of the person who answers by it. */
  readonly person: string;
  readonly expiresAt: number;
  /** The only decision that it gives; absent or null: any. */
  readonly choice?: Choice | null;
}

export interface ReadToken extends LinkToken {
  /** Identifies the token where it is marked as used. */
  readonly id: string;
}

/** Distinguishes tokens from other texts signed with the same secret. */
const PURPOSE = "holdpoint answer link 1";
const TEXT_UNITS_MAX = 2000;

export function writeToken(
  { threadId, interruptId, person, expiresAt, choice = null }: LinkToken,
  secret: string,
): string {
  const members = [threadId, interruptId, person, expiresAt, ...(choice === null ? [] : [choice])];
  const body = Buffer.from(JSON.stringify(members)).toString("base64url");
  return `${body}.${sign(body, secret)}`;
}

/** @returns null if the text is no token of this secret */
export function readToken(text: string, secret: string): ReadToken | null {
  const [body = "", signature = "", ...more] = text.split(".");
  if (text.length > TEXT_UNITS_MAX || more.length > 0) return null;
  const wanted = Buffer.from(sign(body, secret));
  const given = Buffer.from(signature);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return null;
  const [threadId, interruptId, person, expiresAt, choice = null] = JSON.parse(
    Buffer.from(body, "base64url").toString(),
  ) as [string, string, string, number, Choice?];
  return { threadId, interruptId, person, expiresAt, choice, id: contentHash(`link ${body}`) };
}

function sign(body: string, secret: string): string {
  return createHmac("sha256", secret).update(`${PURPOSE}\n${body}`).digest("base64url");
}
