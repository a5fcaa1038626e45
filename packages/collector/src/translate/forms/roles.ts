// Roles: the words with which senders say who speaks. The only table of them.

const ROLES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    system: ["system"],
    developer: ["developer"],
    user: ["user", "human"],
    assistant: ["assistant", "ai", "model", "chatbot", "toolcall"],
    tool: ["tool", "function", "toolresponse", "toolresult", "toolexecutionresult"],
  }).flatMap(([role, words]) => words.map((word): [string, string] => [word, role])),
);

/** Also "AIMessageChunk", "CHATBOT", "MessageRole.USER" and "tool-response"; "" for any other word. */
export function toRole(word: string): string {
  const known = ROLES.get(word);
  if (known !== undefined) return known;
  const plain = word.replace(/^\w*Role\./, "").replace(/Message(?:Chunk)?$/, "");
  return ROLES.get(plain.replaceAll(/[_-]/g, "").toLowerCase()) ?? "";
}
