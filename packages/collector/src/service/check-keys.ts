// Check keys: whether the keys of the process open the files that an earlier one left.
import type { Keyring } from "@holdpoint/base/keyring.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { FORWARD_FOLDER, FORWARD_SUFFIX } from "../forward/forward-store.ts";
import { type KeyProof, checkProofs } from "../shared/key-proof.ts";
import { LOG_SUFFIX } from "../spool/collect-segments.ts";
import type { FilePort } from "../spool/disk/file-port.ts";
import { TREES_SUFFIX } from "../spool/tree-log.ts";
import { listLetterProofs } from "../upload/dead-letters.ts";
import { type CollectorConfig, deadLetterDir } from "./settings.ts";
import { parseSegment } from "../spool/append-log.ts";
import { buildProof } from "../spool/encrypted-record.ts";
import { FILE_HEAD_BYTES_MAX, readFileHead } from "../spool/record.ts";

/** Changes nothing. @throws {ConfigError} without the key of a file */
export async function checkKeys(
  config: CollectorConfig,
  { files, log, ring }: { readonly files: FilePort; readonly log: Log; readonly ring: Keyring | null },
): Promise<void> {
  const { spoolDir } = config;
  const letters = deadLetterDir(config);
  const spooled =
    spoolDir === null
      ? []
      : [
          ...(await listFileProofs(spoolDir, [LOG_SUFFIX, TREES_SUFFIX], files)),
          ...(await listFileProofs(`${spoolDir}/${FORWARD_FOLDER}`, [FORWARD_SUFFIX], files)),
        ];
  const dead = letters === null ? [] : await listLetterProofs(letters);
  const used = checkProofs([...spooled, ...dead], ring);
  if (ring !== null) log.info("collector_keys", { newest: ring.ids[0] ?? "", in_use: [...used] });
}

// What the files of an earlier process say of their keys.

/** @param suffixes of the files @returns nothing for a missing folder, and for files that cannot be read */
async function listFileProofs(dir: string, suffixes: readonly string[], files: FilePort): Promise<readonly KeyProof[]> {
  const proofs: KeyProof[] = [];
  for (const name of await files.list(dir).catch(() => [])) {
    const segment = suffixes.map((suffix) => parseSegment(name, suffix)).find((one) => one !== null) ?? null;
    if (segment === null) continue;
    const path = `${dir}/${name}`;
    const salt = await readSalt(path, files).catch(() => null);
    if (salt !== null) proofs.push(buildProof(path, { segment, salt }));
  }
  return proofs;
}

async function readSalt(path: string, files: FilePort): Promise<string | null> {
  const file = await files.openToRead(path);
  try {
    return readFileHead(await file.read(0, FILE_HEAD_BYTES_MAX))?.salt ?? null;
  } finally {
    await file.close();
  }
}
