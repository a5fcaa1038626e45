// Inbox review: pending items one after the other in the terminal, each shown in whole, with its decisions as keys.
// Invariants:
//   - An item is decided only after it was shown, and again if another person changed it meanwhile: the answer goes
//     through the same rules as `inbox approve`, `edit`, `reject` and `answer`.
//   - A dangerous action goes ahead only after its name was typed; an edit only after its changes were shown.
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { agentClient, type ServerOptions } from "../client/api-client.ts";
import type { Cli } from "../client/command-context.ts";
import { inboxItems } from "../client/resolve-id.ts";
import { CliError, EXIT, type ExitCode, PromptEndedError } from "../errors/cli-error.ts";
import { paint } from "../output/print.ts";
import { oneLine } from "../output/sanitize.ts";
import { editArgs, listChanges } from "./edit-args.ts";
import { answer, approve, edit, reject, type AnswerOptions } from "./inbox-answer.ts";
import { itemLines, readQuestion } from "./inbox-list.ts";

export interface ReviewOptions extends ServerOptions {
  readonly graph?: string;
  readonly search?: string;
  readonly by?: string;
  readonly limit: number;
}

type Ask = NonNullable<Cli["terminal"]["ask"]>;
type Step = "answered" | "skipped" | "again";

/** A refused answer has printed its reason. */
const readStep = (code: ExitCode): Step => (code === EXIT.done ? "answered" : "skipped");

/** @throws {CliError} without an interactive terminal */
export async function reviewItems(cli: Cli, options: ReviewOptions): Promise<ExitCode> {
  const { ask } = cli.terminal;
  if (ask === null)
    throw new CliError("a review needs a terminal: list items with inbox ls, and answer them by id", EXIT.usage);
  const client = await agentClient(cli, options);
  const items = await inboxItems(client, { q: options.search, graph_id: options.graph }, options.limit);
  if (items.length === 0) cli.terminal.out("No pending interrupts.\n");
  let answered = 0;
  for (const [at, item] of items.entries()) {
    cli.terminal.out(`\n${paint(cli.terminal, "dim", `${at + 1} of ${items.length}`)}\n`);
    cli.terminal.out(`${itemLines(cli, item, cli.clock.now(), false).join("\n")}\n`);
    const end = await decide(cli, item, { ask, options }).catch(quitAtEnd);
    if (end === "quit") break;
    if (end === "answered") answered++;
  }
  if (items.length > 0) cli.terminal.out(`${answered} of ${items.length} answered.\n`);
  return EXIT.done;
}

function quitAtEnd(error: unknown): "quit" {
  if (error instanceof PromptEndedError) return "quit";
  throw error;
}

interface Asking {
  readonly ask: Ask;
  readonly options: ReviewOptions;
}

/** Asks until the item is answered or left. */
async function decide(cli: Cli, item: InboxItem, asking: Asking): Promise<Exclude<Step, "again"> | "quit"> {
  const keys = listKeys(item);
  const prompt = `${keys.map(([key, word]) => `[${key}]${word.slice(1)}`).join("  ")} > `;
  for (;;) {
    const key = (await asking.ask(prompt)).trim().toLowerCase().slice(0, 1);
    const word = keys.find(([one]) => one === key)?.[1];
    if (word === "quit") return "quit";
    if (word === "skip") return "skipped";
    if (word === undefined) cli.terminal.err(`Type one of ${keys.map(([one]) => one).join(", ")}.\n`);
    else {
      const step = await take(cli, item, { ...asking, word });
      if (step !== "again") return step;
    }
  }
}

/** What the item allows, in the order of the console's buttons. */
function listKeys(item: InboxItem): readonly (readonly [key: string, word: string])[] {
  const always = [
    ["s", "skip"],
    ["q", "quit"],
  ] as const;
  if (item.kind === "breakpoint") return [["a", "approve"], ...always];
  const { allowed, actions } = readQuestion(item);
  const keys = { approve: "a", edit: "e", reject: "r", respond: "m", ignore: "" } as const;
  const words = { approve: "approve", edit: "edit", reject: "reject", respond: "message", ignore: "" } as const;
  const own = allowed
    .filter((type) => type !== "ignore" && (type !== "edit" || actions.length === 1))
    .map((type) => [keys[type], words[type]] as const);
  return [...own, ...always];
}

async function take(
  cli: Cli,
  item: InboxItem,
  { ask, options, word }: Asking & { readonly word: string },
): Promise<Step> {
  const place = `${item.thread_id}/${item.id}`;
  const answering: AnswerOptions = options;
  try {
    if ((word === "approve" || word === "edit") && !(await isMeant(item, ask))) return "again";
    if (word === "approve") return readStep(await approve(cli, [place], answering));
    if (word === "reject") {
      const message = (await ask("Why (empty: without a reason): ")).trim();
      return readStep(await reject(cli, [place], { ...answering, ...(message === "" ? {} : { message }) }));
    }
    if (word === "edit") return await takeEdit(cli, item, { ask, options });
    const text = await ask(readQuestion(item).schema === null ? "Answer: " : "Answer, as JSON: ");
    if (text.trim() === "") return "again";
    const isText = readQuestion(item).schema === null || readQuestion(item).actions.length > 0;
    const given = { ...answering, ...(isText ? { text } : {}) };
    return readStep(await answer(cli, place, isText ? undefined : text, given));
  } catch (error) {
    if (!(error instanceof CliError) || error instanceof PromptEndedError) throw error;
    if (error.exitCode === EXIT.unavailable) throw error;
    cli.terminal.err(`${error.message}\n`);
    return "again";
  }
}

/** Asks for `name=value` until an empty line, shows the changes, and sends them after a yes. */
async function takeEdit(cli: Cli, item: InboxItem, { ask, options }: Asking): Promise<Step> {
  const before = readQuestion(item).actions[0]?.args ?? {};
  const set: string[] = [];
  for (;;) {
    const line = (await ask("name=value (empty: done): ")).trim();
    if (line === "") break;
    editArgs(before, [...set, line]);
    set.push(line);
  }
  if (set.length === 0) return "again";
  for (const line of listChanges(before, editArgs(before, set))) cli.terminal.out(`${oneLine(line)}\n`);
  if (!/^y(es)?$/i.test((await ask("Send? [y/N] ")).trim())) return "again";
  return readStep(await edit(cli, `${item.thread_id}/${item.id}`, { ...options, set, areRead: true }));
}

async function isMeant({ dangerous, action, node }: InboxItem, ask: Ask): Promise<boolean> {
  if (!dangerous) return true;
  const name = action ?? node;
  return (await ask(`This is marked as dangerous. Type ${oneLine(name)} to go on: `)).trim() === name;
}
