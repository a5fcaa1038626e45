// Encrypted record: the content of a spool record, encrypted at its place. The key of a file is in its head.
// Invariants:
//   - The place is salt, segment and offset: a record that somebody moves does not open, and counts as damaged.
//   - The frame is of the encrypted content: torn and damaged records are found without a key.
//   - The salt of a file is an empty text that its key sealed: it names the key, and proves it.
import { randomBytes } from "node:crypto";
import { readBytesKeyId, readKeyId, SealedValueError, type Keyring } from "@holdpoint/base/keyring.ts";
import type { KeyProof } from "../shared/key-proof.ts";
import { changeContent, type Encoded, type OpenContent, type Seal } from "./record.ts";

/** Seal of a new file. */
export function createSeal(segment: number, ring: Keyring | null): Seal {
  const salt = ring === null ? randomBytes(16).toString("hex") : ring.seal("", nameFile(segment));
  return { segment, salt };
}

/** @param file its path */
export function buildProof(file: string, { salt, segment }: Seal): KeyProof {
  return { file, proof: salt, place: nameFile(segment) };
}

/** The record for this offset of a file; as it is without encryption. */
export function encryptRecord(record: Encoded, seal: Seal, offset: number, ring: Keyring | null): Encoded {
  if (ring === null) return record;
  return changeContent(record, (parts) => ring.sealBytes(parts, namePlace(seal, offset)));
}

export function createOpener(seal: Seal, ring: Keyring | null): OpenContent {
  const isEncrypted = readKeyId(seal.salt) !== null;
  return (content, offset) => {
    if (!isEncrypted) return content;
    if (ring === null || readBytesKeyId(content) === null) return null;
    try {
      return ring.openBytes(content, namePlace(seal, offset));
    } catch (error) {
      if (error instanceof SealedValueError) return null;
      throw error;
    }
  };
}

const nameFile = (segment: number): string => `spool file ${segment}`;
const namePlace = ({ salt, segment }: Seal, offset: number): string => `spool record ${salt} ${segment} ${offset}`;
