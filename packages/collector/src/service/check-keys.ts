// Check keys: whether the keys of the process open the files that an earlier one left.
import type { Keyring } from "@holdpoint/base/keyring.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { FORWARD_FOLDER, FORWARD_SUFFIX } from "../forward/forward-store.ts";
import { checkProofs } from "../shared/key-proof.ts";
import { LOG_SUFFIX } from "../spool/collect-segments.ts";
import type { FilePort } from "../spool/disk/file-port.ts";
import { listFileProofs } from "../spool/file-keys.ts";
import { TREES_SUFFIX } from "../spool/tree-log.ts";
import { listLetterProofs } from "../upload/dead-letters.ts";
import { type CollectorConfig, deadLetterDir } from "./settings.ts";

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
