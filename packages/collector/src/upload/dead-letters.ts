// Dead letters: refused runs, one file per body, for inspection and for `collector replay`.
// Invariants:
//   - A file contains no key: it names its tenant by the hash of key and X-Tenant-Id.
//   dead-letters.2. A file appears complete or not at all: written under a temporary name, synced, then renamed. It
//        survives a power cut from the end of its write: the folder is synced too.
//   - With encryption a file is a line that proves its key, and the rest sealed at the name of the file.
//   dead-letters.3. The first write removes what crashes have left of earlier ones, after an hour.
import { open, readdir, readFile, rename, stat, unlink } from "node:fs/promises";
import { basename } from "node:path";
import { makeFolder } from "@holdpoint/base/files/private-folder.ts";
import { readKeyId, SealedValueError, type Keyring } from "@holdpoint/base/keyring.ts";
import type { Body, BodyEncoding } from "../encode/batch-body.ts";
import type { DropReason } from "../shared/span-accounting.ts";
import type { KeyProof } from "../shared/key-proof.ts";
import type { Tenant } from "../shared/tenants.ts";

export interface DeadLetters {
  /** Rejects when the write fails. */
  readonly write: (body: Body, cause: DropReason, reason: string) => Promise<void>;
}

interface Header {
  readonly format: 1;
  readonly tenant: string;
  readonly tenantId: string;
  readonly createdMs: number;
  readonly givenUpMs: number;
  readonly cause: DropReason;
  readonly reason: string;
  readonly runs: number;
  readonly boundary: string;
  readonly encoding: BodyEncoding;
  readonly rawBytes: number;
  readonly offsets: readonly number[];
}

const SUFFIX = ".dead";
const PART_SUFFIX = ".part";
/** Another process may write to the same folder. */
const PART_AGE_MS = 3_600_000;

/** @param ring null without encryption */
export function createDeadLetters(dir: string, now: () => number, ring: Keyring | null): DeadLetters {
  let count = 0;
  return {
    async write(body, cause, reason) {
      makeFolder(dir);
      if (count === 0) await removeOldParts(dir, now()); // dead-letters.3
      const header: Header = {
        format: 1,
        tenant: body.tenant.id,
        tenantId: body.tenant.tenantId,
        createdMs: body.createdMs,
        givenUpMs: now(),
        cause,
        reason,
        runs: body.offsets.length,
        boundary: body.boundary,
        encoding: body.encoding,
        rawBytes: body.rawBytes,
        offsets: body.offsets,
      };
      const name = `${dir}/${now()}-${process.pid}-${String(count++).padStart(6, "0")}`;
      const file = await open(name + PART_SUFFIX, "wx", 0o600);
      try {
        const letter = [Buffer.from(`${JSON.stringify(header)}\n`), body.bytes];
        await file.writev(ring === null ? letter : sealLetter(letter, name + SUFFIX, ring));
        await file.datasync();
      } finally {
        await file.close();
      }
      await rename(name + PART_SUFFIX, name + SUFFIX); // dead-letters.2
      await syncFolder(dir);
    },
  };
}

async function syncFolder(dir: string): Promise<void> {
  const folder = await open(dir, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function removeOldParts(dir: string, nowMs: number): Promise<void> {
  for (const name of (await readdir(dir)).filter((one) => one.endsWith(PART_SUFFIX))) {
    const path = `${dir}/${name}`;
    const changedMs = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => nowMs,
    );
    if (nowMs - changedMs > PART_AGE_MS) await unlink(path).catch(() => undefined);
  }
}

export interface DeadLetter {
  readonly tenant: string;
  readonly tenantId: string;
  readonly cause: DropReason;
  readonly reason: string;
  readonly bodyFor: (tenant: Tenant) => Body;
}

/** Paths, oldest first. Ignores other files. */
export async function listDeadLetters(dir: string): Promise<string[]> {
  const names = (await readdir(dir).catch(() => [])).filter((name) => name.endsWith(SUFFIX));
  return names.sort().map((name) => `${dir}/${name}`);
}

const PROOF_PLACE = "dead letter";
/** Longer than the first line of any sealed letter. */
const PROOF_BYTES = 128;
const namePlace = (path: string): string => `dead letter ${basename(path)}`;

function sealLetter(letter: readonly Buffer[], path: string, ring: Keyring): Buffer[] {
  return [Buffer.from(`${ring.seal("", PROOF_PLACE)}\n`), ring.sealBytes(letter, namePlace(path))];
}

/** @throws {SealedValueError} */
function openLetter(content: Buffer, path: string, ring: Keyring | null): Buffer {
  const lineEnd = content.indexOf(0x0a);
  const id = readKeyId(content.toString("latin1", 0, Math.max(0, lineEnd)));
  if (id === null) return content;
  if (ring === null) throw new SealedValueError(`it needs the key "${id}" in HOLDPOINT_ENCRYPTION_KEYS`);
  return ring.openBytes(content.subarray(lineEnd + 1), namePlace(path));
}

/** Keys of the letters in a folder; nothing for a missing one. */
export async function listLetterProofs(dir: string): Promise<readonly KeyProof[]> {
  const proofs: KeyProof[] = [];
  for (const path of await listDeadLetters(dir)) {
    const file = await open(path, "r").catch(() => null);
    if (file === null) continue;
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(PROOF_BYTES), 0, PROOF_BYTES, 0);
      const [proof = ""] = buffer.toString("latin1", 0, bytesRead).split("\n");
      proofs.push({ file: path, proof, place: PROOF_PLACE });
    } finally {
      await file.close();
    }
  }
  return proofs;
}

/** Unreadable, damaged, or sealed with a key that is not given: why. */
export async function readDeadLetter(path: string, ring: Keyring | null): Promise<DeadLetter | string> {
  try {
    const content = openLetter(await readFile(path), path, ring);
    const lineEnd = content.indexOf(0x0a);
    const header = JSON.parse(content.toString("utf8", 0, Math.max(0, lineEnd))) as Header;
    const { cause, reason, tenant, tenantId, createdMs, boundary, encoding, rawBytes, offsets } = header;
    const bytes = content.subarray(lineEnd + 1);
    return {
      tenant,
      tenantId,
      cause,
      reason,
      bodyFor: (owner) => ({ tenant: owner, createdMs, boundary, encoding, bytes, rawBytes, offsets, first: 0 }),
    };
  } catch (error) {
    return error instanceof SealedValueError ? error.message : "is not a dead letter, or is damaged";
  }
}
