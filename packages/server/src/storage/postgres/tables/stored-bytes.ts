// The bytes that the checkpoints of a thread take in PostgreSQL.
import type { StoredBytes } from "../../../ports/ports.ts";
import { bytesFrom } from "../../shared/stored-bytes.ts";
import { threadKey } from "../client/lock-key.ts";
import type { Sql } from "../client/transaction.ts";

/** Small values stand in the rows of their steps; a large one is a blob that a checkpoint names as `#<hash>`. */
const CHANNELS = `
  SELECT channel, sum(bytes) AS bytes FROM (
    SELECT v.key AS channel, octet_length(v.value::text) AS bytes
      FROM holdpoint.checkpoints AS c, json_each(c.small::json) AS v WHERE c.thread_id = $1
    UNION ALL
    SELECT named.channel, octet_length(b.data) FROM holdpoint.blobs AS b JOIN (
      SELECT DISTINCT f.key AS channel, substr(f.value, 2) AS hash
        FROM holdpoint.checkpoints AS c, json_each_text(c.body::json -> 'from') AS f
        WHERE c.thread_id = $1 AND f.value LIKE '#%'
    ) AS named ON b.hash = named.hash WHERE b.thread_id = $1
  ) AS found GROUP BY channel ORDER BY channel COLLATE "C"`;

export async function readStoredBytes(db: Sql, threadId: string): Promise<StoredBytes> {
  db.follow(threadKey(threadId));
  const checkpoints = await db.get(
    `SELECT count(*) AS count, sum(octet_length(body) + octet_length(metadata)) AS bytes
     FROM holdpoint.checkpoints WHERE thread_id = $1`,
    threadId,
  );
  const channels = await db.all(CHANNELS, threadId);
  const writes = await db.get(
    "SELECT count(*) AS count, sum(octet_length(entries)) AS bytes FROM holdpoint.writes WHERE thread_id = $1",
    threadId,
  );
  return bytesFrom(checkpoints, channels, writes);
}
