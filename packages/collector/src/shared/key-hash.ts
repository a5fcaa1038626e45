// Key hash: how the rules file names an API key without holding it.
import { createHash } from "node:crypto";
import { z } from "zod";

export const KeyHashSchema = z
  .string()
  .regex(/^[0-9a-f]{64}$/, { error: "must be the SHA-256 of the key: 64 lower-case hexadecimal digits" })
  .describe("SHA-256 of the API key, so that the file holds no key.");

export function hashOfKey(apiKey: string): string {
  return createHash("sha256").update(apiKey).digest("hex");
}
