// Note: a side effect that tests can count. A node appends its name to the file that the input names.
import { appendFileSync } from "node:fs";

/** @param file where to write; an absent name writes nothing. */
export function note(file: string | undefined, line: string): void {
  if (file !== undefined && file !== "") appendFileSync(file, `${line}\n`);
}
