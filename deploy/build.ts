// Build: the sources of the packages → JavaScript in dist/program/, file by file, for the published package.
// Rules:
//   - The result is what Node runs from the sources: only types go. `npm run check` has checked them.
//   - The published package holds all of ours as folders: `@holdpoint/base/ids.ts` becomes the path to it.
import { transformSync } from "esbuild";
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

const ROOT = dirname(import.meta.dirname);
const TARGET = join(ROOT, "dist", "program");
const SOURCES = "packages/{base,api,server,collector,gateways,notify,holdpoint}/src/**/*.ts";
const FOR_TESTS = /\.(test|contract)\.ts$|\/testkit\.ts$/;

/** `from "./x.ts"`, `import("@holdpoint/base/x.ts")` */
const SPECIFIER = /\b(from|import)(\s*\(?\s*)"(\.{1,2}\/|@holdpoint\/)([^"]+)\.ts"/g;

/** @param path of the file below packages/ */
function linkFiles(path: string, code: string): string {
  return code.replaceAll(SPECIFIER, (_, word: string, space: string, start: string, rest: string) => {
    if (start.startsWith(".")) return `${word}${space}"${start}${rest}.js"`;
    const to = posix.relative(posix.dirname(path), rest.replace("/", "/src/"));
    return `${word}${space}"${to.startsWith(".") ? to : `./${to}`}.js"`;
  });
}

rmSync(TARGET, { recursive: true, force: true });
for (const source of globSync(SOURCES, { cwd: ROOT })) {
  if (FOR_TESTS.test(source)) continue;
  const path = source.slice("packages/".length);
  const { code } = transformSync(readFileSync(join(ROOT, source), "utf8"), {
    loader: "ts",
    format: "esm",
    target: "es2023",
    sourcefile: source,
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  });
  const target = join(TARGET, `${path.slice(0, -".ts".length)}.js`);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, linkFiles(path, code));
}
