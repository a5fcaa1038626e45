import type { FingerprintTx, KeyTx, NoticeTx, PeopleTx, SessionTx } from "../../ports/ports.ts";
import type { ColdSql } from "./cold-sql.ts";
import { fingerprintVerbs } from "./fingerprints.ts";
import { keyVerbs } from "./keys.ts";
import { noticeVerbs } from "./notices.ts";
import { peopleVerbs } from "./people.ts";
import { sessionVerbs } from "./sessions.ts";

/** The operations on the tables of this folder. */
export function coldVerbs(sql: ColdSql): FingerprintTx & KeyTx & NoticeTx & PeopleTx & SessionTx {
  return { ...fingerprintVerbs(sql), ...keyVerbs(sql), ...noticeVerbs(sql), ...peopleVerbs(sql), ...sessionVerbs(sql) };
}
