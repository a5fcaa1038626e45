// Backup: a copy of a database file while a server works on it.
// Invariant backup.1: the copy is of one moment: it is read in one step, which writers do not wait for.
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { writeWhole } from "../dump/atomic-file.ts";

export interface BackupResult {
  readonly file: string;
  readonly bytes: number;
  readonly threads: number;
}

/** One step for the whole file: a copy in several would begin anew whenever somebody writes. */
const PAGES = 2 ** 31 - 1;

/** @param folder the data folder @throws {Error} in words */
export async function backUp(folder: string, target: string): Promise<BackupResult> {
  const file = join(folder, "holdpoint.db");
  if (!existsSync(file)) throw new Error(`there is no database in ${folder}: name its folder with --data-dir`);
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

/** @returns how many threads are in it. @throws {Error} when the copy is not sound. */
function checked(path: string): number {
  const copy = new DatabaseSync(path);
  try {
    copy.exec("PRAGMA journal_mode = DELETE"); // one file, without a log beside it
    const said = String(copy.prepare("PRAGMA quick_check(1)").get()?.["quick_check"]);
    if (said !== "ok") throw new Error(`the copy is damaged (${said}): look at the disk of the original, too`);
    return Number(copy.prepare("SELECT count(*) AS n FROM threads").get()?.["n"]);
  } finally {
    copy.close();
  }
}
