// Source transform: a TypeScript or JSX file → JavaScript that Node runs, with a source map inside.
// Rules:
//   - The format is TypeScript's: `.mts` a module, `.cts` CommonJS, others by the nearest package.json. A file with a
//     top-level await is a module, because CommonJS has none.
//   - Decorators, JSX and class fields follow the nearest tsconfig.json.
//   - Decorator metadata comes from a compiler of the project, or the file does not load.
//   - A result that was prepared counts only for the same text and format.
//   source-transform.5. The compiler is not stopped while it compiles: it would never answer.
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire, type LoadFnOutput } from "node:module";
import { basename, extname } from "node:path";
import type * as Esbuild from "esbuild";
import { NO_COMPILER, wantsMetadata, withMetadata } from "./decorator-metadata.ts";
import { packageType, sourceConfig } from "./source-config.ts";

const LOADERS: Readonly<Record<string, "ts" | "tsx" | "jsx">> = {
  ".ts": "ts",
  ".mts": "ts",
  ".cts": "ts",
  ".tsx": "tsx",
  ".jsx": "jsx",
};

export function isTypeScript(path: string): boolean {
  return extname(path) in LOADERS;
}

/** A malformed file. */
export class SourceError extends SyntaxError {
  readonly file: string;
  readonly line: number | null;

  /** @param line from 1; null if unknown */
  constructor(message: string, file: string, line: number | null) {
    super(message);
    this.name = "SyntaxError";
    this.file = file;
    this.line = line;
  }
}

/** @throws {SourceError} */
export function transformSource(path: string): LoadFnOutput {
  const text = readFileSync(path, "utf8");
  const wanted = chooseFormat(path);
  try {
    return { format: wanted, source: transform(path, text, wanted), shortCircuit: true };
  } catch (error) {
    if (wanted === "commonjs" && isAboutAwait(error))
      return { format: "module", source: transform(path, text, "module"), shortCircuit: true };
    throw error;
  }
}

export function chooseFormat(path: string): "module" | "commonjs" {
  const extension = extname(path);
  if (extension === ".mts") return "module";
  return extension === ".cts" ? "commonjs" : packageType(path);
}

const IMPORT_EQUALS = /^\s*import\s+[\w$]+\s*=\s*require\s*\(/m;

function transform(path: string, text: string, format: "module" | "commonjs"): string {
  const ready = prepared.get(path);
  if (ready?.text === text && ready.format === format) return ready.code;
  const { compilerOptions } = sourceConfig(path);
  try {
    const options = chooseOptions(path, text, format);
    const { code } = compiler().transformSync(text, options);
    if (!wantsMetadata(code, compilerOptions)) return code;
    const compiled = withMetadata(path, text, compilerOptions);
    if (compiled === null) throw new SourceError(NO_COMPILER, path, null);
    return compiler().transformSync(compiled, { ...options, loader: "jsx" }).code;
  } catch (error) {
    throw asSourceError(error, path);
  }
}

function chooseOptions(path: string, text: string, format: "module" | "commonjs"): Esbuild.TransformOptions {
  const isModule = format === "module";
  return {
    loader: LOADERS[extname(path)] ?? "ts",
    format: isModule ? "esm" : "cjs",
    platform: "node",
    target: `node${process.versions.node}`,
    sourcemap: "inline",
    sourcesContent: false,
    sourcefile: basename(path), // beside the module itself, for any query of its URL
    tsconfigRaw: { compilerOptions: forEsbuild(sourceConfig(path).compilerOptions) },
    logLevel: "silent",
    ...(isModule && IMPORT_EQUALS.test(text) ? { banner: REQUIRE } : {}),
    ...(!isModule && text.includes("import.meta") ? { banner: META, define: { "import.meta": "__importMeta" } } : {}),
  };
}

interface PreparedSource {
  readonly text: string;
  readonly format: "module" | "commonjs";
  readonly code: string;
}

const prepared = new Map<string, PreparedSource>();

/**
 * Compiles a file for its load later, while this thread does other things.
 * @returns the code; null if the file has to be compiled at its load, which then reports its errors
 */
export async function prepareSource(path: string): Promise<string | null> {
  try {
    const text = await readFile(path, "utf8");
    const format = chooseFormat(path);
    const { code } = await compileAside(text, chooseOptions(path, text, format));
    if (wantsMetadata(code, sourceConfig(path).compilerOptions)) return null;
    prepared.set(path, { text, format, code });
    return code;
  } catch {
    return null;
  }
}

export function forgetPrepared(): void {
  prepared.clear();
}

const REQUIRE =
  'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);';
const META =
  'const __importMeta = { url: require("node:url").pathToFileURL(__filename).href, filename: __filename, dirname: __dirname, resolve: (specifier) => require("node:url").pathToFileURL(require.resolve(specifier)).href };';

type CompilerOptions = ReturnType<typeof sourceConfig>["compilerOptions"];

/** `jsx: "preserve"` is for a later bundler; here is none. */
function forEsbuild({ jsx, ...options }: CompilerOptions): NonNullable<Esbuild.TsconfigRaw["compilerOptions"]> {
  const { paths: _paths, baseUrl: _baseUrl, ...rest } = options;
  const kept = jsx === undefined || jsx === "preserve" || jsx === "react-native" ? "react-jsx" : jsx;
  return { ...(rest as object), jsx: kept };
}

const IDLE_MS = 2000;
const required = createRequire(import.meta.url);
let idle: NodeJS.Timeout | undefined;

let underWay = 0;

/** The compiler is a separate process; it ends after some time without loads. */
export function compiler(): typeof Esbuild {
  const esbuild = required("esbuild") as typeof Esbuild;
  clearTimeout(idle);
  if (underWay === 0) idle = setTimeout(() => void esbuild.stop(), IDLE_MS).unref(); // source-transform.5
  return esbuild;
}

async function compileAside(text: string, options: Esbuild.TransformOptions): Promise<Esbuild.TransformResult> {
  underWay++;
  try {
    return await compiler().transform(text, options);
  } finally {
    underWay--;
    compiler(); // its time without loads begins
  }
}

function isAboutAwait(error: unknown): boolean {
  return error instanceof SourceError && error.message.startsWith("Top-level await");
}

function asSourceError(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !("errors" in error) || !Array.isArray(error.errors)) return error;
  const [first] = error.errors as readonly Esbuild.Message[];
  if (first === undefined) return error;
  return new SourceError(first.text, path, first.location?.line ?? null);
}
