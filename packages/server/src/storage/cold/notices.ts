// Notices: messages that change with their items, and one-use tokens of links.
import type { Notice } from "../../model/model.ts";
import type { NoticeTx } from "../../ports/ports.ts";
import { NOTICE_COLUMNS } from "../shared/columns.ts";
import { type ColdSql, coldTable } from "./cold-sql.ts";

export function noticeVerbs(sql: ColdSql): NoticeTx {
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
