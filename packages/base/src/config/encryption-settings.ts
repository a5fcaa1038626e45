// Settings of encryption at rest. A value that begins with `command:` names a program of a key service, which prints
// the keys.
import { boolean, setting, ShownReason, type Setting } from "./config.ts";
import { parseKeys, type EncryptionKey } from "../keyring.ts";

const COMMAND = "command:";

function encryptionKeys(name: string): Setting<string | null> {
  const meaning =
    "Keys of encryption at rest, newest first, as `id:base64key` with commas or lines between them; a key has 32 bytes. A text of 16, 24 or 32 bytes is a key too, with the id `langgraph`. `command:` and a program with its arguments: the program prints them. New values get the first key. They seal the database of the agent server, traces and the collector's files.";
  const kind = { type: "list of keys", fallback: null, limits: "id:base64key, or command: and a program" };
  const notes = { meaning, secret: true, aliases: ["LANGGRAPH_AES_KEY"] };
  return setting<string | null>(name, kind, notes, (value) => {
    if (!value.startsWith(COMMAND)) readList(value);
    else if (value.slice(COMMAND.length).trim() === "") throw new ShownReason("names no program after command:");
    return value;
  });
}

export const KEY_SETTINGS = { encryptionKeys: encryptionKeys("HOLDPOINT_ENCRYPTION_KEYS") } as const;

/** For programs that can keep an index of words. */
export const ENCRYPTION_SETTINGS = {
  ...KEY_SETTINGS,
  search: boolean("HOLDPOINT_SEARCH", null, {
    meaning:
      "Keep an index of the words of threads, items and traces, which stand there in plain text. Default: yes, and no with encryption keys.",
  }),
} as const;

function readList(text: string): readonly EncryptionKey[] {
  try {
    return parseKeys(text);
  } catch (error) {
    throw new ShownReason(error instanceof Error ? error.message : "");
  }
}

/**
 * @param run starts a program and returns what it prints
 * @returns the keys, newest first; none without encryption
 * @throws {ShownReason} in words that reveal nothing of a key
 */
export async function readKeys(
  value: string | null,
  run: (program: string, args: readonly string[]) => Promise<string>,
): Promise<readonly EncryptionKey[]> {
  if (value === null) return [];
  if (!value.startsWith(COMMAND)) return readList(value);
  const [program = "", ...args] = value.slice(COMMAND.length).trim().split(/\s+/);
  return readList(await run(program, args));
}
