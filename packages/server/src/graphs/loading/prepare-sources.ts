// Prepare sources: compiles the TypeScript of the graphs while a start loads LangGraph. A load cannot wait for its
// compiler in another way than by stopping the thread, and it starts a thread of the compiler for it.
// Rules:
//   - It changes only when a file is compiled: a file that it misses, or cannot compile, is compiled by its load.
//   - It follows paths and aliases between files of the project, up to FILES_MAX files.
import { findImported } from "./source-resolve.ts";
import { forgetPrepared, isTypeScript, prepareSource } from "./source-transform.ts";

const FILES_MAX = 1000;
/** As the compiler writes them. A match in a string costs at most the compilation of a file. */
const IMPORTS = /(?:\b(?:from|import) ?|\brequire\()"([^"\n]+)"/g;

export interface PreparedSources {
  readonly files: readonly string[];
  /** Forgets the results. */
  readonly forget: () => void;
}

export async function prepareSources(files: readonly string[]): Promise<PreparedSources> {
  const seen = new Set<string>();
  const compiled: string[] = [];
  const visit = async (path: string): Promise<void> => {
    if (seen.has(path) || seen.size >= FILES_MAX || !isTypeScript(path)) return;
    seen.add(path);
    const code = await prepareSource(path);
    if (code === null) return;
    compiled.push(path);
    await Promise.all(importedBy(code, path).map(visit));
  };
  await Promise.all(files.map(visit));
  return { files: compiled, forget: forgetPrepared };
}

function importedBy(code: string, path: string): readonly string[] {
  try {
    return [...code.matchAll(IMPORTS)].flatMap(([, specifier = ""]) => findImported(specifier, path) ?? []);
  } catch {
    return [];
  }
}
