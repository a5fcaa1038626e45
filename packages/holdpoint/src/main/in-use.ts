// In use: a start whose folder another process has learns where that process answers.
import { readLocalServer } from "../cli/client/local-server.ts";

const IN_USE: ReadonlySet<string> = new Set(["FolderInUseError", "TraceDatabaseInUseError"]);

/** @param folder the data folder of the start @returns the error, or one that names the running server */
export function explainInUse(error: unknown, folder: string): unknown {
  if (!(error instanceof Error) || !IN_USE.has(error.name)) return error;
  const running = readLocalServer(folder);
  if (running === null) return error;
  const { url, pid } = running;
  return new Error(
    `Holdpoint already runs on the data folder ${folder}, at ${url} (process ${pid}): use that one, stop it first, or set HOLDPOINT_DATA_DIR to another folder`,
    { cause: error },
  );
}
