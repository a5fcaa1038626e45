// Copies of threads in PostgreSQL. The database copies while the event loop serves other calls, so nothing is copied
// ahead. Sealed values pass through this process.
import type { CopyTx } from "../../../ports/ports.ts";
import type { Parameter } from "../client/pool.ts";
import { COPIED_COLUMNS, resealed } from "../../shared/thread-copy.ts";
import { threadKey } from "../client/lock-key.ts";
import type { Sql } from "../client/transaction.ts";
import { indexCopiedItems } from "./metadata-index.ts";

export function copyVerbs(db: Sql): CopyTx {
  return {
    copyValuesAhead: () => null,
    async copyThreadData(from, to) {
      db.hold(threadKey(from));
      db.hold(threadKey(to));
      for (const [name, columns] of COPIED_COLUMNS) {
        const chosen = `FROM holdpoint.${name} WHERE thread_id`;
        if (db.sealing.ring === null) {
          db.run(
            `INSERT INTO holdpoint.${name} (thread_id, ${columns}) SELECT $1, ${columns} ${chosen} = $2`,
            to,
            from,
          );
          continue;
        }
        const { insert, cells } = resealed(db.sealing, { table: name, from, to, columns });
        for (const row of await db.all(`SELECT thread_id, ${columns} ${chosen} = $1`, from))
          db.run(`INSERT INTO holdpoint.${name} ${insert("$")}`, ...(cells(row) as readonly Parameter[]));
      }
      indexCopiedItems(db, to);
    },
    abandonCopy: () => undefined,
  };
}
