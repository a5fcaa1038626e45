// Copies of threads in PostgreSQL. The database copies while the event loop serves other calls, so nothing is copied
// ahead.
import type { CopyTx } from "../../../ports/ports.ts";
import { COPIED_COLUMNS } from "../../shared/thread-copy.ts";
import { threadKey } from "../client/lock-key.ts";
import type { Sql } from "../client/transaction.ts";
import { indexCopiedItems } from "./metadata-index.ts";

export function copyVerbs(db: Sql): CopyTx {
  return {
    copyValuesAhead: () => null,
    copyThreadData(from, to) {
      db.hold(threadKey(from));
      db.hold(threadKey(to));
      for (const [name, columns] of COPIED_COLUMNS) {
        db.run(
          `INSERT INTO holdpoint.${name} (thread_id, ${columns}) SELECT $1, ${columns} FROM holdpoint.${name} WHERE thread_id = $2`,
          to,
          from,
        );
      }
      indexCopiedItems(db, to);
    },
    abandonCopy: () => undefined,
  };
}
