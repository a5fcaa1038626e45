// Reserve: a file of RESERVE_BYTES, deleted when the disk is full to make space for marks and batches.
import type { FilePort } from "./file-port.ts";

export interface Reserve {
  /** Rejects when the disk is full. Idempotent. */
  readonly make: () => Promise<void>;
  /** Deletes the file. True: there was one. */
  readonly release: () => Promise<boolean>;
}

const RESERVE_BYTES = 1024 * 1024;
const RESERVE_NAME = "reserve";

export function createReserve(dir: string, files: FilePort): Reserve {
  const path = `${dir}/${RESERVE_NAME}`;
  let exists = false;
  return {
    async make() {
      if (exists) return;
      if ((await files.list(dir)).includes(RESERVE_NAME)) {
        exists = true;
        return;
      }
      const file = await files.create(path);
      try {
        await file.write([Buffer.alloc(RESERVE_BYTES)]);
        exists = true;
      } finally {
        await file.close();
        if (!exists) await files.unlink(path).catch(() => undefined);
      }
    },
    async release() {
      if (!exists) return false;
      exists = false;
      await files.unlink(path).catch(() => undefined);
      return true;
    },
  };
}
