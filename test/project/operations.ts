// The operations of the server's API, as its descriptions list them.
import { globSync } from "node:fs";
import { join } from "node:path";
import type { AnyOperation } from "@holdpoint/api/operation.ts";

const API = join(import.meta.dirname, "../../packages/api/src");

/** Every operation that a file of packages/api/src exports. */
export async function everyOperation(): Promise<readonly AnyOperation[]> {
  const files = globSync("{,audit/,items/}*.ts", { cwd: API }).filter((file) => !file.endsWith(".test.ts"));
  const modules = await Promise.all(files.map((file) => import(join(API, file)) as Promise<object>));
  const isOperation = (value: unknown): value is AnyOperation =>
    typeof value === "object" && value !== null && "method" in value && "path" in value;
  return modules.flatMap((one) => Object.values(one).filter(isOperation));
}
