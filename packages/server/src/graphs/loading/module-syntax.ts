// Module syntax: distinguishes modules from CommonJS in `.js` files of a project whose package.json has no `type`.
// Node finds out by itself, but writes the warning MODULE_TYPELESS_PACKAGE_JSON into the log of the server for it.
// Rules:
//   - A file is a module when it parses as one only: the test that Node applies.
//   - Node decides about files that declare their kind, by extension or by `type`.
import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { compileFunction } from "node:vm";
import { declaredType } from "./source-config.ts";

/** V8's messages for syntax that only modules have. */
const MODULE_ONLY = [
  "Cannot use import statement outside a module",
  "Unexpected token 'export'",
  "Cannot use 'import.meta' outside a module",
  "await is only valid in async functions and the top level bodies of modules",
];

/** @param path of a project file */
export function isUndeclaredModule(path: string): boolean {
  if (extname(path) !== ".js" || declaredType(path) !== null) return false;
  try {
    compileFunction(readFileSync(path, "utf8").replace(/^#!.*/, ""));
    return false;
  } catch (error) {
    return error instanceof SyntaxError && MODULE_ONLY.some((message) => error.message.startsWith(message));
  }
}
