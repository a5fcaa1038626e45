// Command acts: what a command of this machine does with the data, for the audit trail.
// Invariants:
//   - Only the server that has a data folder writes its trail. A backup beside it leaves its act as a file of the
//     folder, before it copies; the server records the act and then removes the file.
import { randomUUID } from "node:crypto";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { type Act, buildAct } from "@holdpoint/server/model/audit/build-act.ts";
import type { AuditEntry } from "@holdpoint/server/model/model.ts";
import type { TakeCommandActs } from "@holdpoint/server/server/server-ports.ts";

const NAME = /^backup-[0-9a-f-]{36}\.act$/;

/** By the user of the machine. */
export function buildCommandAct(action: Act["action"], subject: string, fields?: Act["fields"]): AuditEntry {
  const done = { action, subject, at: Date.now(), ...(fields === undefined ? {} : { fields }) };
  return buildAct({ name: readUser(), via: "cli" }, done);
}

/** @param file of the backup */
export function leaveBackupAct(folder: string, file: string): Promise<void> {
  const text = JSON.stringify([Date.now(), readUser(), file]);
  return writeFile(join(folder, `backup-${randomUUID()}.act`), text, { flag: "wx", mode: 0o600 });
}

export function takeBackupActs(folder: string): TakeCommandActs {
  return async (record) => {
    for (const name of (await readdir(folder)).filter((one) => NAME.test(one))) {
      const file = join(folder, name);
      const { at, by, subject } = readNote(await readFile(file, "utf8"));
      await record(buildAct({ name: by, via: "cli" }, { action: "backup_made", at, subject }));
      await rm(file, { force: true });
    }
  };
}

/** A note that a crash cut still is one. */
function readNote(text: string): { readonly at: number; readonly by: string; readonly subject: string } {
  try {
    const [at, by, subject] = JSON.parse(text) as readonly unknown[];
    if (typeof at === "number" && typeof by === "string" && typeof subject === "string") return { at, by, subject };
  } catch {
    // as below
  }
  return { at: Date.now(), by: "unknown", subject: "unknown" };
}

function readUser(): string {
  try {
    return userInfo().username;
  } catch {
    return "unknown"; // a container's user without a name
  }
}
