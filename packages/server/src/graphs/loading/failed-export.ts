// Failed export: the export in whose statement a file failed to load. All exports of the file are missing then, and
// langgraph.json may name another one first.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { SourceError } from "./source-transform.ts";

/** A frame of a stack: modules have a URL in it, CommonJS a path. */
const FRAME = /(file:\/\/\/[^\s:()?]+|(?<=^|\()(?:[A-Za-z]:)?[\\/][^:()?\n]+)(?:\?[^\s:()]*)?:(\d+)/gm;
/** The first line of a top-level statement. */
const STATEMENT = /^[\w$@"'`([]/;
const EXPORT = /^export\s+(?:(default)\b|(?:async\s+)?(?:const|let|var|class|function\s*\*?)\s*([\w$]+))/;

/** Null if the failing statement exports nothing, or is in another file. */
export function failedExport(error: unknown, file: string): string | null {
  const line = failedLine(error, file);
  if (line === null) return null;
  const statement = readLines(file)
    .slice(0, line)
    .findLast((text) => STATEMENT.test(text));
  const [, byDefault, name] = EXPORT.exec(statement ?? "") ?? [];
  return byDefault ?? name ?? null;
}

/** The outermost frame of the file is its top-level code. */
function failedLine(error: unknown, file: string): number | null {
  if (error instanceof SourceError) return error.file === file ? error.line : null;
  if (!(error instanceof Error)) return null;
  const own = [...(error.stack ?? "").matchAll(FRAME)].filter(([, place = ""]) => readPath(place) === file);
  const [, , line] = own.at(-1) ?? [];
  return line === undefined ? null : Number(line);
}

const readPath = (place: string): string => (place.startsWith("file:") ? fileURLToPath(place) : place);

function readLines(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch {
    return [];
  }
}
