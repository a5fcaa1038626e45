// All operations on cold tables, which both storages share.
import type {
  FingerprintTx,
  IdempotencyRecord,
  IdempotencyTx,
  KeyTx,
  NoticeTx,
  PolicyTx,
  SocketTicket,
  SocketTicketTx,
} from "../../ports/ports.ts";
import { assistantVerbs } from "./assistants.ts";
import { type ColdSql, coldTable, readNumber } from "./cold-sql.ts";
import { cronVerbs } from "./crons.ts";
import { erasureVerbs } from "./erasure.ts";
import { peopleVerbs } from "./people.ts";
import { pruneVerbs } from "./prune.ts";
import { sealingVerbs } from "./sealing.ts";
import { sessionVerbs } from "./sessions.ts";
import { tenantVerbs } from "./tenants.ts";
import { webhookVerbs } from "./webhooks.ts";
import {
  IDEMPOTENCY_COLUMNS,
  KEY_COLUMNS,
  NOTICE_COLUMNS,
  POLICY_COLUMNS,
  SOCKET_TICKET_COLUMNS,
} from "../shared/columns.ts";
import type { Fingerprint, Notice, Policy, StoredKey } from "../../model/model.ts";

/** The operations on the tables of this folder. */
export function coldVerbs(sql: ColdSql) {
  return {
    ...assistantVerbs(sql),
    ...callVerbs(sql),
    ...cronVerbs(sql),
    ...erasureVerbs(sql),
    ...fingerprintVerbs(sql),
    ...keyVerbs(sql),
    ...noticeVerbs(sql),
    ...peopleVerbs(sql),
    ...policyVerbs(sql),
    ...pruneVerbs(sql),
    ...sealingVerbs(sql),
    ...sessionVerbs(sql),
    ...tenantVerbs(sql),
    ...webhookVerbs(sql),
  };
}

/** Idempotency keys, and tickets of sockets. */
function callVerbs(sql: ColdSql): IdempotencyTx & SocketTicketTx {
  const { schema } = sql;
  const calls = coldTable<IdempotencyRecord>(sql, "idempotency", IDEMPOTENCY_COLUMNS);
  const tickets = coldTable<SocketTicket>(sql, "socket_tickets", SOCKET_TICKET_COLUMNS);
  return {
    async idempotency(key) {
      sql.hold(`call ${key}`); // of two calls with one key, the second finds the row of the first
      return calls.readOrNull(await sql.get(`${calls.select} WHERE key = ?`, key));
    },
    putIdempotency: (record) => calls.insert(record),
    deleteIdempotencyBefore: (at) => sql.run(`DELETE FROM ${schema}idempotency WHERE created_at < ?`, at),
    putSocketTicket: (ticket) => tickets.insert(ticket),
    takeSocketTicket: async (digest) => (await tickets.remove("digest = ?", digest))[0] ?? null,
    countSocketTickets(caller) {
      sql.hold(`tickets ${caller}`);
      return readNumber(sql, `SELECT count(*) AS n FROM ${schema}socket_tickets WHERE caller = ?`, caller);
    },
    deleteSocketTicketsBefore: (at) => sql.run(`DELETE FROM ${schema}socket_tickets WHERE expires_at <= ?`, at),
  };
}

/** Fingerprints of the deployed graphs. */
function fingerprintVerbs(sql: ColdSql): FingerprintTx {
  const { schema } = sql;
  return {
    async checkWritable(at) {
      const conflict = "ON CONFLICT (key) DO UPDATE SET value = excluded.value";
      await sql.count(`INSERT INTO ${schema}meta (key, value) VALUES ('checked_at', ?) ${conflict}`, String(at));
    },
    async fingerprint(hash) {
      const body = (await sql.get(`SELECT body FROM ${schema}fingerprints WHERE hash = ?`, hash))?.["body"];
      return typeof body === "string" ? (JSON.parse(body) as Fingerprint) : null;
    },
    putFingerprint(fingerprint, at) {
      sql.run(
        `INSERT INTO ${schema}fingerprints (hash, created_at, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
        fingerprint.hash,
        at,
        JSON.stringify(fingerprint),
      );
    },
  };
}

/** Keys of programs. */
function keyVerbs(sql: ColdSql): KeyTx {
  const { schema } = sql;
  const keys = coldTable<StoredKey>(sql, "api_keys", KEY_COLUMNS);
  return {
    insertKey: (key) => keys.insert(key),
    keyByHash: async (hash) => keys.readOrNull(await sql.get(`${keys.select} WHERE hash = ?`, hash)),
    keys: async () => (await sql.all(`${keys.select} ORDER BY key_id`)).map(keys.read),
    keysNamed: async (name) => (await sql.all(`${keys.select} WHERE name = ?`, name)).map(keys.read),
    countKeys: async () => Number((await sql.get(`SELECT count(*) AS n FROM ${schema}api_keys`))?.["n"]),
    markKeyUsed(keyId, at) {
      const later = "WHERE key_id = ? AND coalesce(used_at, 0) < ?";
      sql.run(`UPDATE ${schema}api_keys SET used_at = ? ${later}`, at, keyId, at);
    },
    deleteKey: async (keyId) => (await keys.remove("key_id = ?", keyId))[0] ?? null,
  };
}

/** Messages that change with their items, and one-use tokens of links. */
function noticeVerbs(sql: ColdSql): NoticeTx {
  const { schema } = sql;
  const notices = coldTable<Notice>(sql, "notices", NOTICE_COLUMNS);
  return {
    putNotice: (notice) => notices.insert(notice, notices.replacing("notice_id")),
    async listNotices(threadId, interruptId) {
      const where = "WHERE thread_id = ? AND interrupt_id = ? ORDER BY created_at, notice_id";
      return (await sql.all(`${notices.select} ${where}`, threadId, interruptId)).map(notices.read);
    },
    async staleNotices(limit) {
      const rows = await sql.all(
        `SELECT ${notices.chooseColumns("n")} FROM ${schema}notices AS n
         LEFT JOIN ${schema}interrupts AS i ON i.thread_id = n.thread_id AND i.interrupt_id = n.interrupt_id
         WHERE n.shown = 'open' AND (i.state IS NULL OR i.state <> 'open') ORDER BY n.created_at LIMIT ?`,
        limit,
      );
      return rows.map(notices.read);
    },
    deleteNoticesBefore(createdAt) {
      sql.run(`DELETE FROM ${schema}notices WHERE shown = 'closed' AND created_at < ?`, createdAt);
    },
    isSpent: async (token) =>
      (await sql.get(`SELECT 1 AS found FROM ${schema}spent_tokens WHERE token = ?`, token)) !== null,
    // One of several servers that spend a token at the same time succeeds: the key is unique.
    async spendToken(token, expiresAt, at) {
      sql.run(`DELETE FROM ${schema}spent_tokens WHERE expires_at < ?`, at);
      const spent = `INSERT INTO ${schema}spent_tokens (token, expires_at) VALUES (?, ?) ON CONFLICT DO NOTHING`;
      return (await sql.count(spent, token, expiresAt)) > 0;
    },
  };
}

/** Answers that people gave in advance. */
function policyVerbs(sql: ColdSql): PolicyTx {
  const { schema } = sql;
  const policies = coldTable<Policy>(sql, "policies", { ...POLICY_COLUMNS, isAdmin: ["is_admin", "flag"] });
  const hold = (policyId: string): void => sql.hold(`policy ${policyId}`);
  const valid = "(until IS NULL OR until > ?)";
  return {
    insertPolicy: (policy) => policies.insert(policy),
    policies: async (now) =>
      (await sql.all(`${policies.select} WHERE ${valid} ORDER BY policy_id`, now)).map(policies.read),
    async holdPolicy(policyId, now) {
      hold(policyId);
      return policies.readOrNull(await sql.get(`${policies.select} WHERE policy_id = ? AND ${valid}`, policyId, now));
    },
    async countPolicies(now) {
      sql.hold("policies");
      sql.run(`DELETE FROM ${schema}policies WHERE until <= ?`, now);
      return readNumber(sql, `SELECT count(*) AS n FROM ${schema}policies`);
    },
    async deletePolicy(policyId) {
      hold(policyId);
      return (await policies.remove("policy_id = ?", policyId))[0] ?? null;
    },
  };
}
