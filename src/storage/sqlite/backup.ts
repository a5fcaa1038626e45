// Backup: a copy of a database file in use by a server.
// Invariant backup.1: the copy shows one moment: one step reads it, and writers do not wait for it.
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { writeWhole } from "../dump/atomic-file.ts";

export interface BackupResult {
  readonly file: string;
  readonly bytes: number;
  readonly threads: number;
}

/** One step for the whole file: a copy in several steps restarts after every write. */
const PAGES = 2 ** 31 - 1;

/** @param folder the data folder @throws {Error} with a message for the user */
export async function backUp(folder: string, target: string): Promise<BackupResult> {
  const file = join(folder, "holdpoint.db");
  if (!existsSync(file)) throw new Error(`${folder} has no database: name its folder with --data-dir`);
  const threads = await writeWhole(target, async (part) => {
    const source = new DatabaseSync(file, { readOnly: true });
    try {
      await backup(source, part, { rate: PAGES }); // backup.1
    } finally {
      source.close();
    }
    return checked(part);
  });
  return { file: target, bytes: statSync(target).size, threads };
}

/** @returns the number of threads in the copy @throws {Error} if the copy is damaged */
function checked(path: string): number {
  const copy = new DatabaseSync(path);
  try {
    copy.exec("PRAGMA journal_mode = DELETE"); // one file, without a write-ahead log
    const verdict = String(copy.prepare("PRAGMA quick_check(1)").get()?.["quick_check"]);
    if (verdict !== "ok") throw new Error(`the copy is damaged (${verdict}): check the disk of the original, too`);
    return Number(copy.prepare("SELECT count(*) AS n FROM threads").get()?.["n"]);
  } finally {
    copy.close();
  }
}
