// Spellings: one name in the ways that senders write it.

/** "tool_use_id" → tool_use_id, toolUseId. */
export function spell(...names: readonly string[]): readonly string[] {
  return [...new Set(names.flatMap((name) => [name, writeCamel(name)]))];
}

/** "tool_use" → tool_use, toolUse, tool-use, tooluse. */
export function spellType(...names: readonly string[]): readonly string[] {
  return [
    ...new Set(names.flatMap((name) => [name, writeCamel(name), name.replaceAll("_", "-"), name.replaceAll("_", "")])),
  ];
}

function writeCamel(name: string): string {
  return name.replaceAll(/_(\w)/g, (_match, letter: string) => letter.toUpperCase());
}
