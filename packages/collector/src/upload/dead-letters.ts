// Dead letters: refused runs, one file per body, for inspection and for `collector replay`.
// Invariants:
//   dead-letters.1. A file contains no key: it names its tenant by the hash of key and X-Tenant-Id.
//   dead-letters.2. A file appears complete or not at all: written under a temporary name, synced, then renamed. It
//        survives a power cut from the end of its write: the folder is synced too.
//   dead-letters.3. The first write removes what crashes have left of earlier ones, after an hour.
import { open, readdir, readFile, rename, stat, unlink } from "node:fs/promises";
import { makeFolder } from "@holdpoint/base/files/private-folder.ts";
import type { Body, BodyEncoding } from "../encode/batch-body.ts";
import type { DropReason } from "../shared/span-accounting.ts";
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

export function createDeadLetters(dir: string, now: () => number): DeadLetters {
  let count = 0;
  return {
    async write(body, cause, reason) {
      makeFolder(dir);
      if (count === 0) await removeOldParts(dir, now()); // dead-letters.3
      const header: Header = {
        format: 1,
        tenant: body.tenant.id, // dead-letters.1
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
        await file.writev([Buffer.from(`${JSON.stringify(header)}\n`), body.bytes]);
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

/** null: unreadable or damaged. */
export async function readDeadLetter(path: string): Promise<DeadLetter | null> {
  try {
    const content = await readFile(path);
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
  } catch {
    return null;
  }
}
