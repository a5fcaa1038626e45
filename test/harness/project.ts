// A project of a user in a temporary folder: its own package.json, and the packages that it names linked from here.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT, temporaryFolder } from "./server.ts";

export type ProjectFiles = Readonly<Record<string, string | object>>;

const LINKED = ["@langchain", "langchain", "zod", "react"];

/** @returns the folder, with the packages linked from here. */
export function writeProject(files: ProjectFiles): string {
  const folder = temporaryFolder();
  writeFiles(folder, files);
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  for (const name of LINKED) symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
  return folder;
}

/** Objects become JSON; a path `a -> b` makes `a` a link to `b`. */
export function writeFiles(folder: string, files: ProjectFiles): void {
  for (const [path, content] of Object.entries(files)) {
    const [link = "", target] = path.split(" -> ");
    const file = join(folder, link);
    mkdirSync(dirname(file), { recursive: true });
    if (target !== undefined) symlinkSync(join(folder, target), file);
    else writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content, null, 2));
  }
}
