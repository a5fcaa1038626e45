// Dump file: a dump (dump.ts) in its own file.
import { createReadStream, createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import type { AuditEntry } from "../../model/model.ts";
import type { Storage } from "../../ports/ports.ts";
import { exportLines, importLines, DumpError, type Dumpable, type RowCounts } from "./dump.ts";
import type { Versions } from "../shared/schema-version.ts";
import { writeWhole } from "./atomic-file.ts";

/** @param file the act is in its trail, too @throws {Error} with a message for the user */
export async function exportFile(
  storage: Storage & Dumpable,
  versions: Versions,
  { target, act }: { readonly target: string; readonly act: AuditEntry | null },
): Promise<RowCounts> {
  const running = await storage.transaction((tx) => tx.runningRuns());
  if (running.length > 0)
    throw new DumpError(
      "runs are in progress, or were interrupted when their server ended: stop all servers; if none is running, start one and stop it again, so that it requeues these runs",
    );
  if (act !== null) await storage.transaction((tx) => tx.audit([act]));
  return storage.dump(async (port) => {
    let counts: RowCounts = {};
    async function* lines(): AsyncGenerator<string> {
      counts = yield* exportLines(port, versions);
    }
    await writeWhole(target, (part) => pipeline(lines(), createWriteStream(part)));
    return counts;
  });
}

/** @throws {Error} with a message for the user; nothing is loaded then */
export async function importFile(storage: Storage & Dumpable, versions: Versions, source: string): Promise<RowCounts> {
  return storage.dump((port) => importLines(port, readLines(source), versions));
}

const CHUNK_BYTES = 1024 * 1024;
/** Below the longest string of V8. */
const LINE_UNITS_MAX = 500_000_000;

/** Opens the file when the caller asks for the first line. A last line without a line break counts. */
async function* readLines(path: string): AsyncGenerator<string> {
  let begun: string[] = [];
  let units = 0;
  const chunks = createReadStream(path, { encoding: "utf8", highWaterMark: CHUNK_BYTES }) as AsyncIterable<string>;
  for await (const chunk of chunks) {
    const [first = "", ...others] = chunk.split("\n");
    begun.push(first);
    units += first.length;
    if (units > LINE_UNITS_MAX) throw new DumpError(`a line has more than ${LINE_UNITS_MAX} characters`);
    for (const next of others) {
      yield begun.join("");
      begun = [next];
      units = next.length;
    }
  }
  if (units > 0) yield begun.join("");
}
