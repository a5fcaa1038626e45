// No config: what a command says in a folder without a langgraph.json.

/** @param program how a shell starts this program @returns the fact, and the remedy */
export function explainNoConfig(program: string): readonly [fact: string, remedy: string] {
  return [
    "no langgraph.json in this folder",
    `create a project with ${program} new my-agent, or try the samples with ${program} dev`,
  ];
}
