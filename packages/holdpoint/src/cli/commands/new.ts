// New: a runnable project from the template.
// Invariants:
//   - Writes only to an empty or absent folder: never replaces an existing file.
//   - The project's dependencies have the versions that this Holdpoint is tested with.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Cli } from "../client/command-context.ts";
import { CliError, EXIT, type ExitCode } from "../errors/cli-error.ts";
import { type PrintOptions, printJson } from "../output/print.ts";

export interface Template {
  readonly folder: string;
  /** Facts about this package: what the project depends on, and the command that makes it first, if it is not there. */
  readonly own: { readonly dependency: string; readonly firstStep: string | null };
  /** Package → version. */
  readonly versions: Readonly<Record<string, string>>;
}

/** npm excludes files named .gitignore from packages. */
const RENAMED: Readonly<Record<string, string>> = { gitignore: ".gitignore" };

export async function makeProject(
  { terminal }: Cli,
  template: Template,
  folder: string,
  options: PrintOptions,
): Promise<ExitCode> {
  const target = resolve(folder);
  checkEmpty(target, folder);
  const files = readdirSync(template.folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(template.folder, join(entry.parentPath, entry.name)))
    .toSorted();
  const made: string[] = [];
  for (const file of files) {
    const name = RENAMED[file] ?? file;
    const text = readFileSync(join(template.folder, file), "utf8");
    const path = join(target, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, file === "package.json" ? packageText(text, basename(target), template) : text, { flag: "wx" });
    made.push(name);
  }
  if (options.json === true) printJson(terminal, { folder: target, files: made });
  else {
    const enter = target === resolve(".") ? "" : `  cd ${folder}\n`;
    const first = template.own.firstStep === null ? "" : `  ${template.own.firstStep}\n`;
    terminal.out(
      `Created ${made.join(", ")} in ${target}\n\nNext steps:\n\n${first}${enter}  npm install\n  npm run dev\n`,
    );
  }
  return EXIT.done;
}

/** @throws {CliError} */
function checkEmpty(target: string, folder: string): void {
  let there: readonly string[];
  try {
    there = readdirSync(target);
  } catch (error) {
    if ((error as { readonly code?: string }).code === "ENOENT") return;
    throw new CliError(`${folder} is not a readable folder: choose another one`);
  }
  if (there.length > 0) throw new CliError(`${folder} is not empty: choose a new or empty folder`);
}

function packageText(text: string, folder: string, { own, versions }: Template): string {
  const template = JSON.parse(text) as { readonly dependencies: JsonObject };
  const name =
    folder
      .toLowerCase()
      .replace(/[^a-z0-9._-]+/g, "-")
      .replace(/^[._-]+|-+$/g, "") || "my-agent";
  const dependencies = Object.fromEntries(
    Object.entries(template.dependencies).map(([one, wanted]) => [
      one,
      one === "holdpoint" ? own.dependency : (versions[one] ?? wanted),
    ]),
  );
  return `${JSON.stringify({ ...template, name, dependencies }, null, 2)}\n`;
}
