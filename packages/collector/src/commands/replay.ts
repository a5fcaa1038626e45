// Replay: `holdpoint collector replay` sends dead letters again.
// Invariants:
//   - Replay uses only the original key of a letter, which contains the key's hash.
//   - Replay removes a letter only after the backend has accepted it. If the backend accepts a part of its runs, new
//     letters have the others.
//   - Replay reads one letter at a time. An unreadable letter blocks no other.
import { unlink } from "node:fs/promises";
import { ConfigError } from "@holdpoint/base/config/config.ts";
import { openKeyring } from "@holdpoint/base/config/encryption-keys.ts";
import {
  createDeadLetters,
  type DeadLetter,
  type DeadLetters,
  listDeadLetters,
  readDeadLetter,
} from "../upload/dead-letters.ts";
import { openBackend, manualUploadPorts } from "../service/open-collector.ts";
import { type CollectorConfig, deadLetterDir } from "../service/settings.ts";
import { hashTenantId } from "../shared/tenants.ts";
import { upload, type UploadResult } from "../upload/upload.ts";

export interface ReplayResult {
  /** Letters. */
  readonly sent: number;
  readonly kept: number;
  /** Kept letters that belong to another key than TRACING_API_KEY. */
  readonly otherKey: number;
  readonly problems: readonly string[];
}

/** @throws {ConfigError} when key or folder are missing. */
export async function replayDeadLetters(config: CollectorConfig): Promise<ReplayResult> {
  const dir = deadLetterDir(config);
  if (dir === null)
    throw new ConfigError([{ name: "DEAD_LETTER_DIR", reason: "is not set, and neither is SPOOL_DIR" }]);
  const { apiKey } = config;
  if (apiKey === null)
    throw new ConfigError([{ name: "TRACING_API_KEY", reason: "is not set: replay uploads with this key" }]);
  const backend = openBackend(config);
  const counts = { sent: 0, kept: 0, otherKey: 0 };
  const problems: string[] = [];
  const ring = await openKeyring(config);
  const letters = createDeadLetters(dir, Date.now, ring);
  try {
    for (const path of await listDeadLetters(dir)) {
      const letter = await readDeadLetter(path, ring);
      if (typeof letter === "string") {
        counts.kept++;
        problems.push(`${path}: ${letter}`);
        continue;
      }
      const id = hashTenantId(apiKey, letter.tenantId);
      if (id !== letter.tenant) {
        counts.otherKey++;
        counts.kept++;
        continue;
      }
      const body = letter.bodyFor({ id, apiKey, tenantId: letter.tenantId });
      const result = await upload(body, config, manualUploadPorts(backend), new AbortController().signal);
      const rest = result.refused.length + result.left.length;
      if (result.delivered.length > 0) {
        await writeRest(letters, letter, result);
        await unlink(path);
        counts.sent++;
      }
      if (rest > 0) {
        counts.kept++;
        problems.push(`${path}: ${result.refused[0]?.reason ?? result.failure?.reason ?? "not sent"}`);
      }
    }
  } finally {
    backend.close();
  }
  return { ...counts, problems };
}

async function writeRest(
  letters: DeadLetters,
  { cause, reason }: DeadLetter,
  { left, refused }: UploadResult,
): Promise<void> {
  for (const refusal of refused) await letters.write(refusal.body, refusal.cause, refusal.reason);
  for (const body of left) await letters.write(body, cause, reason);
}
