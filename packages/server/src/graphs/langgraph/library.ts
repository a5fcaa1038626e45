// Library: the copy of LangGraph in use by the graphs, so that classes and symbols are theirs; ours if they have none.
// Invariant library.1: an unchecked version stops the server at start, by name.
import { readFileSync, realpathSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Document } from "@langchain/core/documents";
import type * as Messages from "@langchain/core/messages";
import type * as JsonSchema from "@langchain/core/utils/json_schema";
import type * as Types from "@langchain/core/utils/types";
import type * as LangGraph from "@langchain/langgraph";
import type * as Zod from "@langchain/langgraph/zod";
import { type ToolClass, placeToolCalls } from "./tool-calls.ts";

export interface Library {
  readonly version: string;
  readonly langgraph: typeof LangGraph;
  readonly messages: typeof Messages;
  readonly Document: typeof Document;
  readonly zod: typeof Zod;
  readonly jsonSchema: typeof JsonSchema;
  readonly types: typeof Types;
}

export class LibraryError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "LibraryError";
  }
}

/** First tested and first excluded version: the checkpointer and interrupt behaviour that this server knows. */
const SUPPORTED = { from: "1.4.18", below: "2.0.0" } as const;

/** @param folder the folder of the graphs, from which LangGraph resolves */
export async function loadLibrary(folder: string): Promise<Library> {
  const { root, version } = findLibrary(folder);
  const core = packageFolder("@langchain/core", root);
  if (core === null) throw new LibraryError(`@langchain/core is not installed next to ${root}`);
  const [langgraph, zod, messages, documents, jsonSchema, types, tools] = await Promise.all([
    importFrom<typeof LangGraph>(root, "."),
    importFrom<typeof Zod>(root, "./zod"),
    importFrom<typeof Messages>(core, "./messages"),
    importFrom<{ readonly Document: typeof Document }>(core, "./documents"),
    importFrom<typeof JsonSchema>(core, "./utils/json_schema"),
    importFrom<typeof Types>(core, "./utils/types"),
    importFrom<{ readonly StructuredTool: ToolClass }>(core, "./tools"),
  ]);
  placeToolCalls(tools.StructuredTool);
  return { version, langgraph, zod, messages, Document: documents.Document, jsonSchema, types };
}

/** Loads nothing. @throws {LibraryError} library.1 */
export function libraryVersion(folder: string): string {
  return findLibrary(folder).version;
}

/** @throws {LibraryError} library.1 */
function findLibrary(folder: string): { readonly root: string; readonly version: string } {
  const here = packageFolder("@langchain/langgraph", dirname(new URL(import.meta.url).pathname));
  const theirs = packageFolder("@langchain/langgraph", folder);
  const root = theirs ?? here;
  if (root === null)
    throw new LibraryError("@langchain/langgraph is not installed: run npm install @langchain/langgraph");
  const { version } = readPackage(root);
  if (isSupported(version)) return { root, version };
  throw new LibraryError(
    `@langchain/langgraph ${version} in ${root} is not supported: install a version from ${SUPPORTED.from} to below ${SUPPORTED.below}`, // library.1
  );
}

function isSupported(version: string): boolean {
  return compareVersions(version, SUPPORTED.from) >= 0 && compareVersions(version, SUPPORTED.below) < 0;
}

/** By their numbers: a pre-release counts as its release. */
function compareVersions(one: string, other: string): number {
  const parseNumbers = (version: string): readonly number[] =>
    version.split(".", 3).map((part) => Number.parseInt(part, 10));
  const others = parseNumbers(other);
  const differences = parseNumbers(one).map((number, at) => number - (others[at] ?? 0));
  return differences.find((difference) => difference !== 0) ?? 0;
}

function packageFolder(name: string, from: string): string | null {
  try {
    const path = findPackageJSON(name, pathToFileURL(join(from, "noop.js")));
    return path === undefined ? null : realpathSync(dirname(path));
  } catch {
    return null;
  }
}

/** A package of the project. @throws {LibraryError} if it is not installed */
export async function importPackage<T>(name: string, folder: string): Promise<T> {
  const root = packageFolder(name, folder);
  if (root === null) throw new LibraryError(`${name} is not installed in ${folder}: run npm install ${name} there`);
  return importFrom<T>(root, ".");
}

interface PackageJson {
  readonly version: string;
  readonly exports?: Readonly<Record<string, unknown>>;
}

function readPackage(root: string): PackageJson {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as PackageJson;
}

/** Node resolves bare names from the importing file only; this reads the same `exports` for any folder. */
async function importFrom<T>(root: string, entry: string): Promise<T> {
  let target = readPackage(root).exports?.[entry];
  for (const condition of ["import", "default"]) {
    if (typeof target === "object" && target !== null && condition in target)
      target = (target as Record<string, unknown>)[condition];
  }
  if (typeof target !== "string") throw new LibraryError(`${root} exports no ${entry}`);
  return (await import(pathToFileURL(join(root, target)).href)) as T;
}
