// Machine checks of doctor: Node, the data folder, the space on its disk, langgraph.json.
import { existsSync } from "node:fs";
import { access, constants, stat, statfs } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describeError } from "@holdpoint/base/api-error.ts";
import type { Cli } from "../../client/command-context.ts";
import { readLocalServer } from "../../client/local-server.ts";
import { explainNoConfig } from "./no-config.ts";
import { fail, ok, type Seen, type Surroundings, warn } from "./finding.ts";

export function nodeCheck({ nodeVersion, nodeRequired }: Surroundings): Seen {
  if (fitsRange(nodeVersion, nodeRequired)) return ok(nodeVersion);
  return fail(`${nodeVersion} is not ${nodeRequired}`, `install Node ${nodeRequired}`);
}

/** Ranges in the forms of `engines`: `^22.19.0` within one major version, `>=24.1.0` from a version on, and `||`. */
function fitsRange(version: string, range: string): boolean {
  const [major = 0, minor = 0] = numbersIn(version);
  return range.split("||").some((part) => {
    const [fromMajor = 0, fromMinor = 0] = numbersIn(part);
    if (major === fromMajor) return minor >= fromMinor;
    return major > fromMajor && !part.includes("^");
  });
}

const numbersIn = (text: string): readonly number[] => (text.match(/\d+/g) ?? []).map(Number);

export async function folderCheck(dataDir: string): Promise<Seen> {
  const folder = resolve(dataDir);
  const there = await nearest(folder);
  const remedy = "make the folder writable for this user, or set HOLDPOINT_DATA_DIR";
  if (!(await stat(there)).isDirectory()) return fail(`${there} is not a folder`, remedy);
  const can = await access(there, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!can) return fail(`${there} is not writable`, remedy);
  const fault = await findDatabaseFault(folder);
  if (fault !== null) return fail(`the database in ${folder} is damaged: ${fault}`, MOVE_AWAY);
  return ok(there === folder ? folder : `${folder} (not created yet)`);
}

const MOVE_AWAY = "move the folder away, and restore a backup";

/** Reads the whole database, unless a server has it. Without a log beside it, SQLite writes nothing into the folder. */
async function findDatabaseFault(folder: string): Promise<string | null> {
  const file = join(folder, "holdpoint.db");
  if (!existsSync(file) || readLocalServer(folder) !== null) return null;
  const address = pathToFileURL(file);
  if (!existsSync(`${file}-wal`)) address.searchParams.set("immutable", "1");
  const { DatabaseSync } = await import("node:sqlite");
  try {
    const database = new DatabaseSync(address, { readOnly: true });
    try {
      const verdict = String(database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"]);
      return verdict === "ok" ? null : verdict;
    } finally {
      database.close();
    }
  } catch (error) {
    return describeError(error).message;
  }
}

/** The folder, or its nearest existing ancestor. */
async function nearest(folder: string): Promise<string> {
  try {
    await access(folder, constants.F_OK);
    return folder;
  } catch {
    const above = dirname(folder);
    return above === folder ? folder : nearest(above);
  }
}

const MIB = 1024 * 1024;
const SPACE_FAIL_MIB = 100;
const SPACE_WARN_MIB = 1024;

export async function spaceCheck(dataDir: string): Promise<Seen> {
  const { bavail, bsize } = await statfs(await nearest(resolve(dataDir)));
  const free = Math.floor((bavail * bsize) / MIB);
  const text = `${free} MiB free`;
  if (free < SPACE_FAIL_MIB) return fail(text, "free disk space: on a full disk, writes fail");
  return free < SPACE_WARN_MIB ? warn(text, "free disk space before it runs out") : ok(text);
}

export async function graphsCheck({ program }: Cli, { graphs }: Surroundings): Promise<readonly Seen[]> {
  const found = await graphs();
  if (found === null) return [warn(...explainNoConfig(program))];
  const { ids, remarks } = found;
  const remarked = remarks.map((remark) => warn(remark, "remove it, unless another program reads the file"));
  return [ok(`graphs: ${ids.join(", ")}; not loaded here: ${program} validate loads and checks them`), ...remarked];
}
