// Completion: the command tree → a completion script for bash, zsh or fish.
// Invariant completion.1: a script names every verb and every long option of the tree, and calls no other program.
import type { Command } from "commander";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

interface Level {
  /** Verbs down to this level: `[]`, `["inbox"]`, `["inbox", "ls"]`. */
  readonly path: readonly string[];
  readonly verbs: readonly Word[];
  readonly options: readonly Word[];
}

interface Word {
  readonly word: string;
  readonly description: string;
}

export function completionScript(program: Command, shell: Shell): string {
  const levels = listLevels(program, []);
  return { bash, zsh, fish }[shell](program.name(), levels);
}

function listLevels(command: Command, path: readonly string[]): readonly Level[] {
  const below = command.commands.map((one) => ({ word: one.name(), description: one.description() }));
  const options = command.options.flatMap(({ long, description, hidden }) =>
    long === undefined || long === null || hidden ? [] : [{ word: long, description }],
  );
  const help = { word: "--help", description: "show the help" };
  const own = { path, verbs: below, options: [...options, help] };
  return [own, ...command.commands.flatMap((one) => listLevels(one, [...path, one.name()]))];
}

const joinWords = ({ verbs, options }: Level): string => [...verbs, ...options].map(({ word }) => word).join(" ");
const joinPath = ({ path }: Level): string => path.join(" ");

/** Paths of verbs, as patterns of a shell's `case`. */
function knownPaths(levels: readonly Level[]): string {
  return levels.flatMap((level) => (level.path.length === 0 ? [] : [`"${joinPath(level)}"`])).join("|");
}

/** Follows the verbs that were typed, and offers the words of their level. */
function bash(name: string, levels: readonly Level[]): string {
  return `# bash completion of ${name}
_${name}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" next="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
${followPath(levels)}
  case "$path" in
${levels.map((level) => `    "${joinPath(level)}") words="${joinWords(level)}" ;;`).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _${name} ${name}
`;
}

/** The loop of both shells: `path` becomes the verbs before the cursor. */
function followPath(levels: readonly Level[]): string {
  return `    next="\${path:+$path }$word"
    case "$next" in
      ${knownPaths(levels)}) path="$next" ;;
    esac
  done`;
}

function zsh(name: string, levels: readonly Level[]): string {
  const described = ({ verbs, options }: Level): string =>
    [...verbs, ...options].map(({ word, description }) => quoted(`${word}:${description}`)).join(" ");
  return `#compdef ${name}
# zsh completion of ${name}
_${name}() {
  local path="" next="" word
  local -a words_here
  for word in "\${(@)words[2,CURRENT-1]}"; do
${followPath(levels)}
  case "$path" in
${levels.map((level) => `    "${joinPath(level)}") words_here=(${described(level)}) ;;`).join("\n")}
  esac
  _describe 'holdpoint' words_here || _files
}
if [ "$funcstack[1]" = "_${name}" ]; then _${name} "$@"; else compdef _${name} ${name}; fi
`;
}

function fish(name: string, levels: readonly Level[]): string {
  const lines = levels.flatMap(({ path, verbs, options }) => [
    ...verbs.map(
      ({ word, description }) =>
        `complete -c ${name} -f -n "__${name}_is ${path.join(" ")}" -a ${word} -d ${quoted(description)}`,
    ),
    ...options.map(
      ({ word, description }) =>
        `complete -c ${name} -n "__${name}_in ${path.join(" ")}" -l ${word.slice(2)} -d ${quoted(description)}`,
    ),
  ]);
  return `# fish completion of ${name}
function __${name}_words
  for word in (commandline -opc)[2..]
    string match -q -- '-*' $word; or echo $word
  end
end
function __${name}_is
  test "$(__${name}_words | string join ' ')" = "$(string join ' ' $argv)"
end
function __${name}_in
  set -l typed (__${name}_words)
  set -l depth (count $argv)
  if test $depth -eq 0
    test (count $typed) -eq 0
    return
  end
  test (count $typed) -ge $depth; and test "$typed[1..$depth]" = "$argv"
end
${lines.join("\n")}
`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "")}'`;
