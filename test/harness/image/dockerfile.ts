// Dockerfile: the instructions of a file, and the files that its ignore rules let in.
import { readdirSync } from "node:fs";
import { join } from "node:path";

export interface Instruction {
  readonly name: string;
  readonly text: string;
  /** Command of the form `["node", "-e"]`; null for a line of the shell. */
  readonly exec: readonly string[] | null;
}

export interface Stage {
  readonly name: string;
  readonly base: string;
  readonly instructions: readonly Instruction[];
}

export function parseDockerfile(text: string): readonly Stage[] {
  const stages: (Stage & { readonly instructions: Instruction[] })[] = [];
  for (const line of text
    .replaceAll(/^\s*#.*\n/gm, "")
    .replaceAll("\\\n", " ")
    .split("\n")) {
    const [, name = "", rest = ""] = /^(\w+)\s+(.*)$/.exec(line.trim()) ?? [];
    if (name === "FROM") {
      const [, base = "", as = String(stages.length)] = /^(\S+)(?: AS (\S+))?$/.exec(rest) ?? [];
      stages.push({ name: as, base, instructions: [] });
    } else if (name !== "") {
      stages.at(-1)?.instructions.push({ name, text: rest, exec: rest.startsWith("[") ? JSON.parse(rest) : null });
    }
  }
  return stages;
}

interface Rule {
  readonly lets: boolean;
  readonly pattern: RegExp;
}

/** The files below a folder that reach the engine: of the rules that fit a path or a folder above it, the last decides. */
export function listContext(folder: string, ignore: string): readonly string[] {
  const rules = ignore
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => ({ lets: line.startsWith("!"), text: line.replace(/^!/, "") }))
    .map(({ lets, text }) => ({ lets, text, pattern: compileRule(text) }));
  const mayHold = (path: string): boolean => rules.some(({ lets, text }) => lets && text.startsWith(`${path}/`));
  const found: string[] = [];
  const walk = (path: string, inherited: boolean): void => {
    for (const entry of readdirSync(join(folder, path), { withFileTypes: true })) {
      const below = path === "" ? entry.name : `${path}/${entry.name}`;
      const lets = decide(rules, below, inherited);
      if (entry.isDirectory() && (lets || mayHold(below))) walk(below, lets);
      else if (lets && !entry.isDirectory()) found.push(below);
    }
  };
  walk("", true);
  return found;
}

/** @param inherited the decision for the folder above, which a later rule changes */
function decide(rules: readonly Rule[], path: string, inherited: boolean): boolean {
  const folders = path.split("/").map((_, at, names) => names.slice(0, at + 1).join("/"));
  return rules.findLast(({ pattern }) => folders.some((one) => pattern.test(one)))?.lets ?? inherited;
}

function compileRule(rule: string): RegExp {
  const parts = /\*\*\/|\*\*|\*|\?|[^*?]+/g;
  const source = rule.replace(/^\/|\/$/g, "").replaceAll(parts, (part) => GLOBS[part] ?? RegExp.escape(part));
  return new RegExp(`^${source}$`);
}

const GLOBS: Readonly<Record<string, string>> = { "**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]" };
