// Dump file: a dump (dump.ts) in a file of its own.
import { createReadStream, createWriteStream } from "node:fs";
import { createInterface } from "node:readline";
import { pipeline } from "node:stream/promises";
import type { Storage } from "../agent/ports.ts";
import { exportLines, importLines, DumpError, type DumpPort, type RowCounts } from "./dump.ts";
import type { Versions } from "./versions.ts";
import { writeWhole } from "./whole-file.ts";

/** @throws {Error} in words */
export async function exportFile(
  storage: Pick<Storage, "transaction"> & { readonly dump: () => DumpPort },
  versions: Versions,
  target: string,
): Promise<RowCounts> {
  const running = await storage.transaction((tx) => tx.runningRuns());
  if (running.length > 0)
    throw new DumpError(
      "runs were cut off when the server ended: start it once, and stop it, so that they are put right",
    );
  let counts: RowCounts = {};
  async function* lines(): AsyncGenerator<string> {
    counts = yield* exportLines(storage.dump(), versions);
  }
  await writeWhole(target, (part) => pipeline(lines(), createWriteStream(part)));
  return counts;
}

/** @throws {Error} in words; nothing was loaded then */
export async function importFile(
  storage: { readonly dump: () => DumpPort },
  versions: Versions,
  source: string,
): Promise<RowCounts> {
  const stream = createReadStream(source);
  const failed = new Promise<never>((_, reject) => stream.once("error", reject));
  const lines = createInterface({ input: stream, crlfDelay: Infinity });
  try {
    return await Promise.race([importLines(storage.dump(), lines, versions), failed]);
  } finally {
    stream.destroy();
  }
}
