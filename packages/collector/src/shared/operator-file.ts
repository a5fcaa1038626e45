// Operator file: a JSON file that a setting names, such as RULES_FILE, read and checked at start.
import { readFileSync } from "node:fs";
import type { z } from "zod";
import { ConfigError } from "@holdpoint/base/config/config.ts";
import { skipMark } from "../otlp/byte-order-mark.ts";

const FILE_BYTES_MAX = 1024 * 1024;

/** @param setting its name, for errors @throws {ConfigError} with every fault of the content and its place */
export function readOperatorFile<T extends z.ZodType>(setting: string, path: string, schema: T): z.infer<T> {
  const result = schema.safeParse(parseText(setting, readText(setting, path)));
  if (result.success) return result.data;
  throw new ConfigError(
    result.error.issues.map(({ message, path: place }) => ({
      name: setting,
      reason: `${place.map(String).join(".") || "the file"}: ${message}`,
    })),
  );
}

function readText(setting: string, path: string): string {
  try {
    const bytes = readFileSync(path);
    if (bytes.length > FILE_BYTES_MAX) throw new Error(`is larger than ${FILE_BYTES_MAX} bytes`);
    return skipMark(bytes).toString();
  } catch (error) {
    throw fault(setting, `${path} cannot be read: ${error instanceof Error ? error.message : "unknown"}`);
  }
}

function parseText(setting: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw fault(setting, `is not JSON: ${error instanceof Error ? error.message : "unknown"}`);
  }
}

function fault(name: string, reason: string): ConfigError {
  return new ConfigError([{ name, reason }]);
}
