// Missing exports: imports of names that the imported file does not export. An ES module with such an import does not
// load. Compiled to CommonJS it loads, and the name is undefined: the check finds it before the code runs.
// Invariants:
//   - Only names that the code uses as values count: an unmarked import of a type is no fault.
//   - Packages, and CommonJS files as written, are not checked: their exports exist only at run time.
import { extname, join } from "node:path";
import type * as Esbuild from "esbuild";
import { findImported } from "./source-resolve.ts";
import { compiler, chooseFormat, isTypeScript } from "./source-transform.ts";

const CHECKED = new Set([".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx", ".json"]);

export interface MissingExport {
  /** The importing file. */
  readonly file: string;
  readonly line: number;
  /** `No matching export in "y.ts" for import "x"` */
  readonly reason: string;
}

/** @param file a graph of the project @param folder paths in the reasons are relative to it */
export async function missingExports(file: string, folder: string): Promise<readonly MissingExport[]> {
  const { errors } = await bundled(file, folder);
  return errors.flatMap(({ text, location }) => {
    if (location === null || !text.startsWith("No matching export")) return [];
    const importer = join(folder, location.file);
    if (!isTypeScript(importer) || chooseFormat(importer) !== "commonjs") return []; // Node itself refuses a module
    return [{ file: location.file, line: location.line, reason: text }];
  });
}

/** The compiler links the project's own files, and reports mismatches. */
async function bundled(file: string, folder: string): Promise<Pick<Esbuild.BuildResult, "errors">> {
  try {
    return await compiler().build({
      entryPoints: [file],
      absWorkingDir: folder,
      bundle: true,
      write: false,
      format: "esm",
      platform: "node",
      logLevel: "silent",
      logLimit: 0,
      tsconfigRaw: { compilerOptions: { experimentalDecorators: true, jsx: "react-jsx" } },
      plugins: [OWN_FILES],
    });
  } catch (error) {
    return { errors: error instanceof Error && "errors" in error ? (error.errors as Esbuild.Message[]) : [] };
  }
}

/** Imports resolve as they do at run time. */
const OWN_FILES: Esbuild.Plugin = {
  name: "own files",
  setup(build) {
    build.onResolve({ filter: /./ }, ({ path, importer, kind }) => {
      if (kind === "entry-point") return { path }; // its own resolver reads every package.json above the project
      const found = findImported(path, importer);
      if (found === null || !CHECKED.has(extname(found))) return { path, external: true };
      return { path: found };
    });
  },
};
