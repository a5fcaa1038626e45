// Storage port for sessions of signed-in people. Conditional changes let one of several racing servers win.
import type { Session } from "../../model/model.ts";
import type { Awaitable } from "@holdpoint/base/awaitable.ts";

export interface Rotation {
  readonly sessionId: string;
  /** The newest token so far. Without it the rotation does nothing. */
  readonly from: string;
  readonly to: string;
  readonly sealedIdToken: string;
  readonly at: number;
}

export interface SessionTx {
  insertSession(session: Session): Awaitable<void>;
  /** The session whose newest or previous token has this hash. */
  sessionByToken(hash: string): Awaitable<Session | null>;
  /** Makes `to` the newest token and `from` the previous one. @returns false if another call was faster */
  rotateSession(rotation: Rotation): Awaitable<boolean>;
  /** Ends the time of the previous token, unless its end is set already. */
  limitPrevious(sessionId: string, until: number): Awaitable<void>;
  markSessionUsed(sessionId: string, at: number): Awaitable<void>;
  /** @returns false without such a session */
  deleteSession(sessionId: string): Awaitable<boolean>;
  /** Deletes the sessions of a person; of one session at the provider only, if given. @returns their number */
  deletePersonSessions(person: string, providerSession: string | null): Awaitable<number>;
  /** Deletes the sessions that belong to one session at the provider. @returns the person of each */
  deleteSessionsAt(providerSession: string): Awaitable<readonly string[]>;
  /** Deletes sessions that expired before `now` or were last used before `usedBefore`. @returns their number */
  deleteOldSessions(now: number, usedBefore: number): Awaitable<number>;
}
