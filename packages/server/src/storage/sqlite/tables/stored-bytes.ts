// The bytes that the checkpoints of a thread take in SQLite.
import type { StoredBytes } from "../../../ports/ports.ts";
import { bytesFrom } from "../../shared/stored-bytes.ts";
import type { Database } from "../client/database.ts";

/** Small values stand in the rows of their steps; a large one is a blob that a checkpoint names as `#<hash>`. */
const CHANNELS = `
  SELECT channel, sum(bytes) AS bytes FROM (
    SELECT v.key AS channel, octet_length(c.small -> v.fullkey) AS bytes
      FROM checkpoints AS c, json_each(c.small) AS v WHERE c.thread_id = ?
    UNION ALL
    SELECT named.channel, octet_length(b.data) FROM blobs AS b JOIN (
      SELECT DISTINCT f.key AS channel, substr(f.value, 2) AS hash
        FROM checkpoints AS c, json_each(c.body, '$.from') AS f WHERE c.thread_id = ? AND f.value LIKE '#%'
    ) AS named ON b.hash = named.hash WHERE b.thread_id = ?
  ) GROUP BY channel ORDER BY channel`;

export function readStoredBytes(db: Database, threadId: string): StoredBytes {
  const checkpoints = db.get(
    "SELECT count(*) AS count, sum(octet_length(body) + octet_length(metadata)) AS bytes FROM checkpoints WHERE thread_id = ?",
    threadId,
  );
  const channels = db.all(CHANNELS, threadId, threadId, threadId);
  const writes = db.get(
    "SELECT count(*) AS count, sum(octet_length(entries)) AS bytes FROM writes WHERE thread_id = ?",
    threadId,
  );
  return bytesFrom(checkpoints, channels, writes);
}
