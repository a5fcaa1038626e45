// File keys: what the files of an earlier process say of their keys.
import type { KeyProof } from "../shared/key-proof.ts";
import { parseSegment } from "./append-log.ts";
import type { FilePort } from "./disk/file-port.ts";
import { buildProof } from "./encrypted-record.ts";
import { FILE_HEAD_BYTES_MAX, readFileHead } from "./record.ts";

/** @param suffixes of the files @returns nothing for a missing folder, and for files that cannot be read */
export async function listFileProofs(
  dir: string,
  suffixes: readonly string[],
  files: FilePort,
): Promise<readonly KeyProof[]> {
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
