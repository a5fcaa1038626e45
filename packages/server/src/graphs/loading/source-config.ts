// Source config: the tsconfig.json and the package type of a source file, cached until the next reload.
import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { createPathsMatcher, getTsconfig, type TsConfigResult } from "get-tsconfig";
import { describeError } from "@holdpoint/base/api-error.ts";

export interface SourceConfig {
  readonly compilerOptions: NonNullable<TsConfigResult["config"]["compilerOptions"]>;
  /** The paths for a specifier by an alias or `baseUrl`; empty for a relative one. */
  readonly aliases: (specifier: string) => readonly string[];
  /** The problem of an existing but unusable file. */
  readonly problem: string | null;
}

const NONE: SourceConfig = { compilerOptions: {}, aliases: () => [], problem: null };
const configs = new Map<string, SourceConfig>();
const types = new Map<string, DeclaredType>();

export function forgetSourceConfigs(): void {
  configs.clear();
  types.clear();
}

/** The nearest tsconfig.json above the file. */
export function sourceConfig(path: string): SourceConfig {
  const folder = dirname(path);
  const known = configs.get(folder);
  if (known !== undefined) return known;
  const config = readSourceConfig(folder);
  configs.set(folder, config);
  return config;
}

function readSourceConfig(folder: string): SourceConfig {
  try {
    const found = getTsconfig(folder);
    if (found === null) return NONE;
    const matcher = createPathsMatcher(found);
    return {
      compilerOptions: found.config.compilerOptions ?? {},
      aliases: (specifier) => matcher?.(specifier) ?? [],
      problem: null,
    };
  } catch (error) {
    return { ...NONE, problem: describeError(error).message };
  }
}

type DeclaredType = "module" | "commonjs" | null;

/** The type of the nearest package.json; CommonJS without one, as for Node. */
export function packageType(path: string): "module" | "commonjs" {
  return declaredType(path) ?? "commonjs";
}

/** Null when the nearest package.json has no `type`. */
export function declaredType(path: string): DeclaredType {
  const folder = dirname(path);
  const known = types.get(folder);
  if (known !== undefined) return known;
  const type = readDeclaredType(path);
  types.set(folder, type);
  return type;
}

function readDeclaredType(path: string): DeclaredType {
  try {
    const file = findPackageJSON(pathToFileURL(path));
    if (file === undefined) return null;
    const { type } = JSON.parse(readFileSync(file, "utf8")) as { readonly type?: unknown };
    return type === "module" || type === "commonjs" ? type : null;
  } catch {
    return null;
  }
}
