// File ports that fail: one ends its process at a call, one in memory simulates power cuts, one rejects or short-writes
// on demand.
import type { FilePort, SpoolFile } from "@holdpoint/collector/spool/disk/file-port.ts";

type Operation = "write" | "sync" | "create" | "openToAppend" | "openToRead" | "rename" | "unlink" | "syncDir" | "list";

/** Called before and after each operation. May throw: then the operation fails. */
export type Hook = (operation: Operation, when: "before" | "after", path: string) => void | Promise<void>;

export function hookedFiles(files: FilePort, hook: Hook): FilePort {
  async function around<T>(operation: Operation, path: string, run: () => Promise<T>): Promise<T> {
    await hook(operation, "before", path);
    const result = await run();
    await hook(operation, "after", path);
    return result;
  }
  const hooked = (file: SpoolFile, path: string): SpoolFile => ({
    write: (buffers) => around("write", path, () => file.write(buffers)),
    sync: () => around("sync", path, () => file.sync()),
    isAt: (name) => file.isAt(name),
    read: (offset, bytes) => file.read(offset, bytes),
    close: () => file.close(),
  });
  return {
    makeDir: (path) => files.makeDir(path),
    list: (path) => around("list", path, () => files.list(path)),
    size: (path) => files.size(path),
    identity: (path) => files.identity(path),
    create: (path) => around("create", path, async () => hooked(await files.create(path), path)),
    openToAppend: (path) => around("openToAppend", path, async () => hooked(await files.openToAppend(path), path)),
    openToRead: (path) => around("openToRead", path, async () => hooked(await files.openToRead(path), path)),
    rename: (from, to) => around("rename", from, () => files.rename(from, to)),
    unlink: (path) => around("unlink", path, () => files.unlink(path)),
    syncDir: (path) => around("syncDir", path, () => files.syncDir(path)),
  };
}

/** `"sync before 3"`: SIGKILL to this process before the third sync. */
export function killingFiles(files: FilePort, at: string): FilePort {
  const [operation, when, number] = at.split(" ");
  let count = 0;
  return hookedFiles(files, (one, now) => {
    if (one === operation && now === when && ++count === Number(number)) process.kill(process.pid, "SIGKILL");
  });
}

interface MemoryFile {
  content: Buffer;
  syncedBytes: number;
}

/** A disk in memory. `image()` is a possible content after a power cut at this moment. */
export interface MemoryDisk {
  readonly files: FilePort;
  /** `keep(path, synced, all)` says how many bytes of a file survive; names survive after a sync of their folder. */
  image(keep: (path: string, synced: number, all: number) => number): MemoryDisk;
  readonly contents: Map<string, Buffer>;
}

export function createMemoryDisk(start: ReadonlyMap<string, Buffer> = new Map()): MemoryDisk {
  const byName = new Map<string, MemoryFile>();
  /** Names as the folder had them at its last sync. */
  let durable = new Map<string, MemoryFile>();
  for (const [path, content] of start) byName.set(path, { content, syncedBytes: content.length });
  durable = new Map(byName);

  const identities = new WeakMap<MemoryFile, string>();
  let made = 0;

  const missing = (path: string): Error => Object.assign(new Error(`ENOENT ${path}`), { code: "ENOENT" });
  const open = (path: string): MemoryFile => {
    const file = byName.get(path);
    if (file === undefined) throw missing(path);
    return file;
  };
  const handle = (file: MemoryFile): SpoolFile => ({
    write: (buffers) => {
      file.content = Buffer.concat([file.content, ...buffers]);
      return Promise.resolve();
    },
    sync: () => {
      file.syncedBytes = file.content.length;
      return Promise.resolve();
    },
    isAt: (path) => Promise.resolve(byName.get(path) === file),
    read: (offset, bytes) => Promise.resolve(Buffer.from(file.content.subarray(offset, offset + bytes))),
    close: () => Promise.resolve(),
  });
  const created = (path: string): SpoolFile => {
    const file: MemoryFile = { content: Buffer.alloc(0), syncedBytes: 0 };
    byName.set(path, file);
    return handle(file);
  };
  const files: FilePort = {
    makeDir: () => Promise.resolve(),
    list: async (dir) =>
      [...byName.keys()].filter((path) => path.startsWith(`${dir}/`)).map((path) => path.slice(dir.length + 1)),
    size: async (path) => open(path).content.length,
    async identity(path) {
      const file = byName.get(path);
      if (file === undefined) return null;
      const known = identities.get(file) ?? String(++made);
      identities.set(file, known);
      return known;
    },
    create: async (path) => created(path),
    openToAppend: async (path) => (byName.has(path) ? handle(open(path)) : created(path)),
    openToRead: async (path) => handle(open(path)),
    async rename(from, to) {
      byName.set(to, open(from));
      byName.delete(from);
    },
    async unlink(path) {
      open(path);
      byName.delete(path);
    },
    async syncDir() {
      durable = new Map(byName);
    },
  };
  return {
    files,
    get contents() {
      return new Map([...byName].map(([path, file]) => [path, file.content]));
    },
    image(keep) {
      const left = new Map<string, Buffer>();
      for (const [path, file] of durable)
        left.set(path, Buffer.from(file.content.subarray(0, keep(path, file.syncedBytes, file.content.length))));
      return createMemoryDisk(left);
    },
  };
}
