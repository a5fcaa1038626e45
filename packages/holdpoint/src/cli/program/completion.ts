// Completion: the command tree → a completion script for bash, zsh or fish.
// Invariants:
//   - A script names every verb, every long option and every choice of the tree.
//   - It calls this program only, and only for values of a server: ids, graphs, people.
import type { Argument, Command, Option } from "commander";
import type { ValueKind } from "../commands/complete.ts";

export const VALUE_KINDS: readonly ValueKind[] = ["item", "thread", "trace", "assistant", "graph", "person", "place"];

/** Name of an argument or an option → what it is. */
const KINDS: Readonly<Record<string, ValueKind>> = {
  item: "item",
  items: "item",
  thread: "thread",
  threads: "thread",
  trace: "trace",
  assistant: "assistant",
  graph: "graph",
  person: "person",
  id: "place",
  claimedBy: "person",
  assignee: "person",
};

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

interface Level {
  /** Verbs down to this level: `[]`, `["inbox"]`, `["inbox", "ls"]`. */
  readonly path: readonly string[];
  readonly verbs: readonly Word[];
  readonly options: readonly Word[];
  /** What each argument is, in order. */
  readonly kinds: readonly (ValueKind | null)[];
  /** Choices of the first argument. */
  readonly choices: readonly string[];
  /** Options with values that are known: `--kind`. */
  readonly valued: readonly Valued[];
}

interface Valued {
  readonly long: string;
  readonly choices: readonly string[];
  readonly kind: ValueKind | null;
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
  const shown = command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== "help");
  const below = shown.map((one) => ({ word: one.name(), description: one.description() }));
  const options = command.options.flatMap(({ long, description, hidden }) =>
    long === undefined || long === null || hidden ? [] : [{ word: long, description }],
  );
  const help = { word: "--help", description: "show the help" };
  const kinds = command.registeredArguments.map((argument) => KINDS[argument.name()] ?? null);
  const valued = command.options.flatMap((option) => listValues(option));
  const choices = listChoices(command.registeredArguments[0]);
  const own = { path, verbs: below, options: [...options, help], kinds, choices, valued };
  return [own, ...shown.flatMap((one) => listLevels(one, [...path, one.name()]))];
}

const listChoices = (one: Argument | Option | undefined): readonly string[] => one?.argChoices ?? [];

function listValues(option: Option): readonly Valued[] {
  const { long } = option;
  const choices = listChoices(option);
  const kind = option.required ? (KINDS[option.attributeName()] ?? null) : null;
  return long == null || (choices.length === 0 && kind === null) ? [] : [{ long, choices, kind }];
}

const joinWords = ({ verbs, options, choices }: Level): string =>
  [...choices, ...verbs.map(({ word }) => word), ...options.map(({ word }) => word)].join(" ");
/** `-` stands for an argument of no kind. */
const joinKinds = ({ kinds }: Level): string =>
  kinds.some((kind) => kind !== null) ? kinds.map((kind) => kind ?? "-").join(" ") : "";
const joinPath = ({ path }: Level): string => path.join(" ");

/** Paths of verbs, as patterns of a shell's `case`. */
function knownPaths(levels: readonly Level[]): string {
  return levels.flatMap((level) => (level.path.length === 0 ? [] : [`"${joinPath(level)}"`])).join("|");
}

/** Follows the verbs that were typed, and offers the words of their level. */
function bash(name: string, levels: readonly Level[]): string {
  return `# bash completion of ${name}
_${name}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local verbs="" next="" word words="" kinds="" count=0
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
${followVerbs(levels)}
  case "$verbs" in
${levels.map((level) => `    "${joinPath(level)}") words="${joinWords(level)}" kinds="${joinKinds(level)}" ;;`).join("\n")}
  esac
  case "$verbs $previous" in
${formatValued(levels, (choices) => `words="${choices}"`)}
  esac
  if [ -n "$kinds" ] && [ "\${current#-}" = "$current" ]; then
    set -- $kinds
    [ "$count" -lt "$#" ] || count=$(($# - 1))
    shift "$count"
    [ "$1" = "-" ] || words="$words $("\${COMP_WORDS[0]}" complete "$1" 2>/dev/null | cut -f1)"
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _${name} ${name}
`;
}

/** The loop of both shells: `verbs` becomes the verbs before the cursor, `count` the number of words after them. */
function followVerbs(levels: readonly Level[]): string {
  return `    next="\${verbs:+$verbs }$word"
    case "$next" in
      ${knownPaths(levels)}) verbs="$next" count=0 ;;
      *) case "$word" in -*) ;; *) count=$((count + 1)) ;; esac ;;
    esac
  done`;
}

/** Branches of a shell's `case` for the word after an option. */
function formatValued(levels: readonly Level[], setWords: (choices: string) => string): string {
  return levels
    .flatMap((level) =>
      level.valued.map(
        ({ long, choices, kind }) =>
          `    "${joinPath(level)} ${long}") ${setWords(choices.join(" "))} kinds="${kind ?? ""}" count=0 ;;`,
      ),
    )
    .join("\n");
}

function zsh(name: string, levels: readonly Level[]): string {
  const described = ({ verbs, options, choices }: Level): string =>
    [
      ...choices.map(quoted),
      ...[...verbs, ...options].map(({ word, description }) => quoted(`${word}:${description}`)),
    ].join(" ");
  return `#compdef ${name}
# zsh completion of ${name}
_${name}() {
  local verbs="" next="" word kinds="" count=0 line
  local current="\${words[CURRENT]}" previous="\${words[CURRENT-1]}"
  local -a words_here
  for word in "\${(@)words[2,CURRENT-1]}"; do
${followVerbs(levels)}
  case "$verbs" in
${levels.map((level) => `    "${joinPath(level)}") words_here=(${described(level)}) kinds="${joinKinds(level)}" ;;`).join("\n")}
  esac
  case "$verbs $previous" in
${formatValued(levels, (choices) => `words_here=(${choices})`)}
  esac
  if [[ -n "$kinds" && "$current" != -* ]]; then
    set -- \${=kinds}
    (( count < $# )) || count=$(($# - 1))
    shift $count
    [[ "$1" = "-" ]] || for line in "\${(@f)$(\${words[1]} complete $1 2>/dev/null)}"; do
      [[ -z "$line" ]] || words_here+=("\${line/$'\\t'/:}")
    done
  fi
  _describe 'holdpoint' words_here || _files
}
if [ "$funcstack[1]" = "_${name}" ]; then _${name} "$@"; else compdef _${name} ${name}; fi
`;
}

function fish(name: string, levels: readonly Level[]): string {
  const lines = levels.flatMap(({ path, verbs, options, kinds, choices, valued }) => {
    const here = `"__${name}_in ${path.join(" ")}"`;
    const values = new Map(valued.map((one) => [one.long, one]));
    return [
      ...verbs.map(
        ({ word, description }) =>
          `complete -c ${name} -f -n "__${name}_is ${path.join(" ")}" -a ${word} -d ${quoted(description)}`,
      ),
      ...(choices.length === 0 ? [] : [`complete -c ${name} -f -n ${here} -a ${quoted(choices.join(" "))}`]),
      ...kinds.flatMap((kind, index) =>
        kind === null
          ? []
          : [
              `complete -c ${name} -f -n "__${name}_at ${path.length + index} ${index === kinds.length - 1} ${path.join(" ")}" -a "(__${name}_values ${kind})"`,
            ],
      ),
      ...options.map(
        ({ word, description }) =>
          `complete -c ${name} -n ${here} -l ${word.slice(2)} -d ${quoted(description)}${fishValues(name, values.get(word))}`,
      ),
    ];
  });
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
function __${name}_at
  set -l typed (count (__${name}_words))
  __${name}_in $argv[3..]; and begin
    test $typed -eq $argv[1]; or begin
      test $argv[2] = true; and test $typed -ge $argv[1]
    end
  end
end
function __${name}_values
  ${name} complete $argv[1] 2>/dev/null
end
${lines.join("\n")}
`;
}

function fishValues(name: string, valued: Valued | undefined): string {
  if (valued === undefined) return "";
  const { choices, kind } = valued;
  return kind === null ? ` -x -a ${quoted(choices.join(" "))}` : ` -x -a "(__${name}_values ${kind})"`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "")}'`;
