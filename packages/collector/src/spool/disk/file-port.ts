// File port: all disk operations of the spool, so that tests can make each of them fail, tear or lose its effect.
import { constants } from "node:fs";
import { type FileHandle, open, readdir, rename, stat, unlink } from "node:fs/promises";
import { makeFolder } from "@holdpoint/base/files/private-folder.ts";

export interface SpoolFile {
  /** Appends all bytes, or rejects. */
  readonly write: (buffers: readonly Buffer[]) => Promise<void>;
  /** When this resolves, all earlier writes survive a power cut. */
  readonly sync: () => Promise<void>;
  /** False for a deleted file, or when another file has its name. */
  readonly isAt: (path: string) => Promise<boolean>;
  readonly read: (offset: number, bytes: number) => Promise<Buffer>;
  readonly close: () => Promise<void>;
}

export interface FilePort {
  readonly makeDir: (path: string) => Promise<void>;
  readonly list: (path: string) => Promise<readonly string[]>;
  readonly size: (path: string) => Promise<number>;
  /** Identifies the file of this name; null if there is none. */
  readonly identity: (path: string) => Promise<string | null>;
  /** A new, empty file, readable by its owner only; rejects when it exists. */
  readonly create: (path: string) => Promise<SpoolFile>;
  readonly openToAppend: (path: string) => Promise<SpoolFile>;
  readonly openToRead: (path: string) => Promise<SpoolFile>;
  readonly rename: (from: string, to: string) => Promise<void>;
  readonly unlink: (path: string) => Promise<void>;
  /** Makes created, renamed and removed names survive a power cut. */
  readonly syncDir: (path: string) => Promise<void>;
}

const OWNER_ONLY = 0o600;

export const nodeFiles: FilePort = {
  async makeDir(path) {
    makeFolder(path);
  },
  list: (path) => readdir(path),
  async size(path) {
    return (await stat(path)).size;
  },
  async identity(path) {
    const found = await stat(path, { bigint: true }).catch(() => null);
    return found === null ? null : `${found.dev}:${found.ino}`;
  },
  async create(path) {
    return openFile(
      await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND, OWNER_ONLY),
    );
  },
  async openToAppend(path) {
    return openFile(await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND, OWNER_ONLY));
  },
  async openToRead(path) {
    return openFile(await open(path, constants.O_RDONLY));
  },
  rename,
  unlink,
  async syncDir(path) {
    const dir = await open(path, constants.O_RDONLY);
    try {
      await dir.sync();
    } finally {
      await dir.close();
    }
  },
};

function openFile(handle: FileHandle): SpoolFile {
  return {
    async write(buffers) {
      const total = buffers.reduce((sum, buffer) => sum + buffer.length, 0);
      const { bytesWritten } = await handle.writev(buffers as Buffer[]);
      // A short write means a full disk: the rest would fail, and half a record is useless.
      if (bytesWritten !== total) throw new Error(`the disk took only ${bytesWritten} of ${total} bytes: is it full?`);
    },
    sync: () => handle.datasync(),
    async isAt(path) {
      const [own, named] = await Promise.all([
        handle.stat({ bigint: true }),
        stat(path, { bigint: true }).catch(() => null),
      ]);
      return named !== null && own.ino === named.ino && own.dev === named.dev;
    },
    async read(offset, bytes) {
      const buffer = Buffer.allocUnsafeSlow(bytes);
      let at = 0;
      while (at < bytes) {
        const { bytesRead } = await handle.read(buffer, at, bytes - at, offset + at);
        if (bytesRead === 0) break;
        at += bytesRead;
      }
      return buffer.subarray(0, at);
    },
    close: () => handle.close(),
  };
}
