// Appended lines: each call opens the file, so that a rotation may move it.
import { open } from "node:fs/promises";

/** Resolves once the lines are on disk. A line that a crash cut stays one of its own. */
export async function appendLines(path: string, lines: string): Promise<void> {
  const file = await open(path, "a+", 0o600);
  try {
    const { size } = await file.stat();
    const last = Buffer.alloc(1);
    if (size > 0) await file.read(last, 0, 1, size - 1);
    const isCut = size > 0 && last.toString() !== "\n";
    await file.appendFile(isCut ? `\n${lines}` : lines);
    await file.datasync();
  } finally {
    await file.close();
  }
}
