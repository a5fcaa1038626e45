// Dead letters: refused runs, one file per body, for inspection and for `collector replay`.
// Invariants:
//   dead-letters.1. A file contains no key: it names its tenant by the hash of key and X-Tenant-Id.
//   dead-letters.2. A file appears complete or not at all: written under a temporary name, synced, then renamed.
import { open, readdir, readFile, rename } from "node:fs/promises";
import { makeFolder } from "../../base/files/private-folder.ts";
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

export function createDeadLetters(dir: string, now: () => number): DeadLetters {
  let count = 0;
  return {
    async write(body, cause, reason) {
      makeFolder(dir);
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
      const file = await open(`${name}.part`, "wx", 0o600);
      try {
        await file.writev([Buffer.from(`${JSON.stringify(header)}\n`), body.bytes]);
        await file.datasync();
      } finally {
        await file.close();
      }
      await rename(`${name}.part`, name + SUFFIX); // dead-letters.2
    },
  };
}

export interface DeadLetter {
  readonly tenant: string;
  readonly tenantId: string;
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
    const { tenant, tenantId, createdMs, boundary, encoding, rawBytes, offsets } = header;
    const bytes = content.subarray(lineEnd + 1);
    return {
      tenant,
      tenantId,
      bodyFor: (owner) => ({ tenant: owner, createdMs, boundary, encoding, bytes, rawBytes, offsets, first: 0 }),
    };
  } catch {
    return null;
  }
}
