// Source hooks: module hooks for projects as written: TypeScript of every kind, imports without an extension, `.js` for
// `.ts`, folders, path aliases, JSON.
// Rules:
//   - Files of this server and compiled files of packages load as in plain Node.
//   - A project file never adds a second copy of a package: its `require` resolves as `import`, where possible.
//   - An import that does not resolve or load fails with the importing file's name.
//   - A file is a module when it parses as one only: the test that Node applies.
//   - Node decides about files that declare their kind, by extension or by `type`.
import { readFileSync } from "node:fs";
import {
  createRequire,
  isBuiltin,
  registerHooks,
  setSourceMapsSupport,
  type LoadFnOutput,
  type LoadHookContext,
  type ResolveHookContext,
} from "node:module";
import { extname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describeError } from "@holdpoint/base/api-error.ts";
import { offerPayloadCheck, payloadCheckFor } from "../langgraph/asked-payload.ts";
import { offerRemoteAnswers, remoteAnswersFor } from "../langgraph/remote-answers.ts";
import { type FailedImport, noteFailedImport } from "./import-failure.ts";
import { declaredType, forgetSourceConfigs } from "./source-config.ts";
import { createSourceResolver, isRequire, type NextResolve } from "./source-resolve.ts";
import { isTypeScript, SourceError, transformSource } from "./source-transform.ts";
import { compileFunction } from "node:vm";

/** A project may contain this server. */
const SERVER = join(import.meta.dirname, "../../../..") + sep; // all packages
const PACKAGES = `${sep}node_modules${sep}`;

/** Modules of other kinds, and JSON, can fail to load as such; their importers are remembered. */
const LOADABLE = /^file:.*\.[cm]?[jt]sx?(?:\?|$)/;
const importers = new Map<string, FailedImport>();

type NextLoad = (url: string, context?: Partial<LoadHookContext>) => LoadFnOutput;

let installed = false;

/** Once per process. Hooks registered earlier see the results of these. */
export function installSourceHooks(): void {
  if (installed) return;
  installed = true;
  offerPayloadCheck();
  offerRemoteAnswers();
  setSourceMapsSupport(true, { nodeModules: false, generatedCode: false }); // a stack names lines of the source
  const resolver = createSourceResolver(isProjectFile);
  registerHooks({
    resolve(specifier: string, context: ResolveHookContext, nextResolve: NextResolve) {
      const parent = filePath(context.parentURL);
      if (parent === null || parent.startsWith(SERVER)) return nextResolve(specifier, context);
      try {
        if (specifier.startsWith("node:") && !isBuiltin(specifier)) throw unknownBuiltin(specifier);
        const resolved = resolver(specifier, parent, context, nextResolve);
        if (!LOADABLE.test(resolved.url)) importers.set(resolved.url, { specifier, parent });
        return resolved;
      } catch (error) {
        noteFailedImport(error, { specifier, parent });
        throw error;
      }
    },
    load(url, context, nextLoad) {
      try {
        return loadSource(url, context, nextLoad);
      } catch (error) {
        noteFailedImport(error, importers.get(url));
        throw error;
      }
    },
  });
}

/** The error that Node throws later, without the importing file. */
function unknownBuiltin(specifier: string): Error {
  return Object.assign(new Error(`No such built-in module: ${specifier}`), { code: "ERR_UNKNOWN_BUILTIN_MODULE" });
}

function loadSource(url: string, context: LoadHookContext, nextLoad: NextLoad): LoadFnOutput {
  const path = filePath(url);
  const line = payloadCheckFor(url) ?? remoteAnswersFor(url);
  if (line !== null) return withLine(nextLoad(url, context), line);
  if (path === null || path.startsWith(SERVER)) return nextLoad(url, context);
  if (isTypeScript(path)) return withHooks(path, transformSource(path), context);
  if (extname(path) === ".json" && isImport(context)) return jsonModule(path, context) ?? nextLoad(url, context);
  if (isProjectFile(path) && isUndeclaredModule(path)) return nextLoad(url, { ...context, format: "module" });
  return withHooks(path, nextLoad(url, context), context);
}

function withLine(loaded: LoadFnOutput, line: string): LoadFnOutput {
  const { source } = loaded;
  if (source === undefined || source === null) return loaded;
  return {
    ...loaded,
    source: `${typeof source === "string" ? source : Buffer.from(source as Uint8Array).toString()}${line}`,
  };
}

/** The cached tsconfig.json and package.json files may have changed. */
export function renewSources(): void {
  forgetSourceConfigs();
}

function isProjectFile(path: string): boolean {
  return !path.includes(PACKAGES) && !path.startsWith(SERVER);
}

export function filePath(url: string | undefined): string | null {
  return url?.startsWith("file:") === true ? fileURLToPath(url) : null;
}

function isImport(context: LoadHookContext): boolean {
  return !isRequire(context);
}

/** In CommonJS modules loaded by `import`, older versions of Node (such as 24.0) resolve `require` without hooks. */
const REQUIRE_HAS_HOOKS = Number(process.versions.node.split(".", 1)[0]) >= 26;

function withHooks(path: string, loaded: LoadFnOutput, context: LoadHookContext): LoadFnOutput {
  if (loaded.format !== "commonjs" || REQUIRE_HAS_HOOKS || !isImport(context) || !isProjectFile(path)) return loaded;
  const exports: unknown = createRequire(path)(path);
  return {
    format: "module",
    source: `${exportsAs(exports, REQUIRED)}export { value as "module.exports" };\n`,
    shortCircuit: true,
  };
}

const REQUIRED = `const { createRequire } = process.getBuiltinModule("module");
const value = createRequire(import.meta.url)(process.getBuiltinModule("url").fileURLToPath(import.meta.url));`;

/** A module with `value` as its default export, and the members of `value` as its other exports. */
function exportsAs(value: unknown, statement: string): string {
  const names = typeof value === "object" && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
  const exported = names.filter((name) => /^[A-Za-z_$][\w$]*$/.test(name) && name !== "default");
  const aliases = exported.map((name, index) => `const v${index} = value[${JSON.stringify(name)}];`);
  const list = exported.map((name, index) => `v${index} as ${name}`);
  return `${statement}\n${aliases.join("")}\nexport { ${list.join(", ")} };\nexport default value;\n`;
}

/** TypeScript and bundlers import JSON without an attribute; Node rejects it. */
function jsonModule(path: string, { importAttributes }: LoadHookContext): LoadFnOutput | null {
  if (importAttributes["type"] === "json" || path.includes(PACKAGES)) return null;
  const value = parseJson(path);
  const source = exportsAs(value, `const value = ${JSON.stringify(value)};`);
  return { format: "module", source, shortCircuit: true };
}

function parseJson(path: string): unknown {
  const text = readFileSync(path, "utf8").replace(/^\uFEFF/, "");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SourceError(describeError(error).message, path, null);
  }
}

// Distinguishes modules from CommonJS in `.js` files of a project whose package.json has no `type`. Node finds out by
// itself, but writes the warning MODULE_TYPELESS_PACKAGE_JSON into the log of the server for it.

/** V8's messages for syntax that only modules have. */
const MODULE_ONLY = [
  "Cannot use import statement outside a module",
  "Unexpected token 'export'",
  "Cannot use 'import.meta' outside a module",
  "await is only valid in async functions and the top level bodies of modules",
];

/** @param path of a project file */
function isUndeclaredModule(path: string): boolean {
  if (extname(path) !== ".js" || declaredType(path) !== null) return false;
  try {
    compileFunction(readFileSync(path, "utf8").replace(/^#!.*/, ""));
    return false;
  } catch (error) {
    return error instanceof SyntaxError && MODULE_ONLY.some((message) => error.message.startsWith(message));
  }
}
