// Inbox answers: a person's decisions → answers in the dialects of their interrupts → the result of each.
// Invariants:
//   - A command builds all its answers before it sends any: one invalid answer sends none.
//   - Every answer prints a line; the exit code is 1 if one was refused.
import type { AnswerResult, InboxItem } from "@holdpoint/api/inbox.ts";
import type { State } from "@holdpoint/api/schemas.ts";
import { type Built, type Decision, type Question, answerAll, buildAnswer } from "@holdpoint/api/dialects.ts";
import { shortId } from "@holdpoint/api/text/short-id.ts";
import type { Json } from "@holdpoint/base/json/json.ts";
import { type Client, type ServerOptions, agentClient, problemText } from "../client/api-client.ts";
import type { Cli } from "../client/command-context.ts";
import { listChanges, editArgs } from "./edit-args.ts";
import { CliError, EXIT, type ExitCode } from "../errors/cli-error.ts";
import { findItems } from "../client/resolve-id.ts";
import { readQuestion } from "./inbox-list.ts";
import { jsonOption } from "./input.ts";
import { type PrintOptions, paint } from "../output/print.ts";
import { jsonText, oneLine } from "../output/sanitize.ts";

export interface AnswerOptions extends ServerOptions, PrintOptions {
  readonly by?: string;
  readonly wait?: boolean;
}

/** Undefined: a breakpoint has no answer and simply continues. */
type Answer = Json | undefined;

export function approve(cli: Cli, words: readonly string[], options: AnswerOptions): Promise<ExitCode> {
  return answerItems(cli, words, options, (item) =>
    item.kind === "breakpoint" ? undefined : answerOrThrow(item, answerAll(readQuestion(item), { type: "approve" })),
  );
}

export function reject(
  cli: Cli,
  words: readonly string[],
  options: AnswerOptions & { readonly message?: string },
): Promise<ExitCode> {
  const { message } = options;
  const decision: Decision = { type: "reject", ...(message === undefined ? {} : { message }) };
  return answerItems(cli, words, options, (item) =>
    answerOrThrow(asksSomething(cli, item), answerAll(readQuestion(item), decision)),
  );
}

export interface EditOptions extends AnswerOptions {
  readonly set: readonly string[];
  readonly args?: string;
  readonly action?: number;
  readonly others?: "approve" | "reject";
  /** The person has read the changes before. */
  readonly areRead?: boolean;
}

export async function edit(cli: Cli, word: string, options: EditOptions): Promise<ExitCode> {
  if ((options.args === undefined) === (options.set.length === 0))
    throw new CliError("nothing to change: use --set name=value, or all arguments with --args", EXIT.usage);
  const whole = options.args === undefined ? undefined : await jsonOption(cli, "--args", options.args);
  return answerItems(cli, [word], options, (item) => {
    const question = readQuestion(asksSomething(cli, item));
    const chosen = chooseAction(question, options);
    const decisions = question.actions.map((action, index): Decision => {
      if (index !== chosen) return { type: options.others ?? "approve" };
      const args = whole ?? editArgs(action.args, options.set);
      for (const line of listChanges(action.args, args))
        if (options.json !== true && options.areRead !== true) cli.terminal.out(`${oneLine(line)}\n`);
      return { type: "edit", args };
    });
    return answerOrThrow(
      item,
      decisions.length === 0
        ? answerAll(question, { type: "edit", args: whole ?? {} })
        : buildAnswer(question, decisions),
    );
  });
}

/** With several actions, the decision on the others must be explicit. @throws {CliError} */
function chooseAction({ actions }: Question, { action, others }: EditOptions): number {
  if (actions.length <= 1 && action === undefined) return 0;
  if (action === undefined || (others === undefined && actions.length > 1)) {
    const count = `the item has ${actions.length} actions`;
    throw new CliError(`${count}: choose one with --action, and decide the others with --others`, EXIT.usage);
  }
  if (action > actions.length)
    throw new CliError(`there is no action ${action}: the item has ${actions.length} actions`, EXIT.usage);
  return action - 1;
}

/** @param value JSON, `@file` or `-`; omitted with `text` */
export async function answer(
  cli: Cli,
  word: string,
  value: string | undefined,
  options: AnswerOptions & { readonly text?: string },
): Promise<ExitCode> {
  const { text } = options;
  if ((value === undefined) === (text === undefined))
    throw new CliError("missing answer: pass JSON, or text with --text", EXIT.usage);
  const given = value === undefined ? undefined : await jsonOption(cli, "the answer", value);
  return answerItems(cli, [word], options, (item) => {
    asksSomething(cli, item);
    return given === undefined
      ? answerOrThrow(item, answerAll(readQuestion(item), { type: "respond", value: text ?? "" }))
      : given;
  });
}

function asksSomething({ program }: Cli, item: InboxItem): InboxItem {
  if (item.kind !== "breakpoint") return item;
  throw new CliError(
    `${item.id} is a breakpoint without a question: ${program} inbox approve continues it, ${program} threads end discards it`,
  );
}

function answerOrThrow({ id }: InboxItem, built: Built): Json {
  if (built.ok) return built.value;
  throw new CliError(`${id}: ${oneLine(built.reason)}`);
}

async function answerItems(
  cli: Cli,
  words: readonly string[],
  options: AnswerOptions,
  makeAnswer: (item: InboxItem) => Answer,
): Promise<ExitCode> {
  const client = await agentClient(cli, options);
  const items = await findItems(client, words);
  const answers = items.map((item) => {
    const resume = makeAnswer(item);
    return { thread_id: item.thread_id, interrupt_id: item.id, ...(resume === undefined ? {} : { resume }) };
  });
  const { by } = options;
  const body = { ...(by === undefined ? {} : { by }), answers };
  const { results }: { readonly results: readonly AnswerResult[] } = await client.post("/inbox/answers", body);
  const ends = options.wait === true ? await findEnds(client, results) : new Map<string, End>();
  for (const [index, result] of results.entries()) {
    const end = ends.get(result.run_id ?? "");
    if (options.json === true) cli.terminal.out(`${jsonText({ ...result, ...end })}\n`);
    else cli.terminal.out(`${formatLine(cli, result, items[index]?.title ?? "", end)}\n`);
  }
  const well =
    results.every(({ status }) => status !== "refused") && [...ends.values()].every(({ status }) => status !== "error");
  return well ? EXIT.done : EXIT.failed;
}

interface End {
  readonly status: string;
  readonly next: readonly string[];
}

/** The state of the threads after their runs. */
async function findEnds(client: Client, results: readonly AnswerResult[]): Promise<ReadonlyMap<string, End>> {
  const ends = new Map<string, End>();
  for (const { run_id: run, thread_id: thread } of results) {
    if (run === undefined || ends.has(run)) continue;
    await client.wait(`/threads/${thread}/runs/${run}/join`, "waiting for the run");
    const { status }: { readonly status: string } = await client.get(`/threads/${thread}`);
    const { next }: State = await client.get(`/threads/${thread}/state`);
    ends.set(run, { status, next });
  }
  return ends;
}

function formatLine({ terminal }: Cli, result: AnswerResult, title: string, end: End | undefined): string {
  const { status, problem, interrupt_id: id, run_id: run } = result;
  const what = `${shortId(id)}  ${oneLine(title)}`;
  if (status === "pending") return `${paint(terminal, "yellow", "counted ")}  ${what}: ${problemText(problem ?? {})}`;
  if (status === "refused") return `${paint(terminal, "red", "refused ")}  ${what}: ${problemText(problem ?? {})}`;
  const after =
    end === undefined
      ? `run ${shortId(run ?? "")}`
      : end.next.length > 0
        ? `now ${end.status} before ${[...new Set(end.next)].join(", ")}`
        : `now ${end.status}`;
  return `${paint(terminal, "green", "answered")}  ${what}  → ${oneLine(after)}`;
}
