// Ask: questions of a shell to people: `holdpoint ask` prints the answer, `holdpoint approve` runs a command that a
// person has approved.
// Rules:
//   - The output is the answer alone; the address of the question and troubles go to the error output.
//   - Without a usable answer nothing runs, and the exit code is not 0.
import {
  type Connection,
  openRequest,
  type PersonRequest,
  RequestRefusedError,
  waitForEnd,
} from "../client/requests.ts";
import { agentServer, type ServerOptions } from "../client/api-client.ts";
import type { Cli } from "../client/command-context.ts";
import { readSeconds } from "../client/read-duration.ts";
import { CliError, EXIT } from "../errors/cli-error.ts";
import { printJson } from "../output/print.ts";
import { jsonText, oneLine, printable } from "../output/sanitize.ts";
import { jsonOption, objectOption } from "./input.ts";

interface QuestionOptions extends ServerOptions {
  readonly json?: boolean;
  readonly timeout?: string;
  readonly key?: string;
  readonly title?: string;
  readonly assignee: readonly string[];
  readonly approvals?: number;
  readonly priority?: string;
  readonly metadata?: string;
}

export interface AskOptions extends QuestionOptions {
  readonly choice: readonly string[];
  readonly schema?: string;
}

/** @returns EXIT.done for the first choice, or any answer without choices; EXIT.failed for another choice */
export async function ask(cli: Cli, question: string, options: AskOptions): Promise<number> {
  const { choice, schema } = options;
  if (choice.length > 0 && schema !== undefined) throw new CliError("use --choice or --schema, not both", EXIT.usage);
  const expected =
    schema === undefined ? choice.length > 0 && { enum: choice } : await jsonOption(cli, "--schema", schema);
  const body = { payload: question, ...(expected === false ? {} : { response_schema: expected }) };
  const request = await askRequest(cli, body, options);
  if (options.json === true) printJson(cli.terminal, request);
  if (request.status !== "answered") return withoutAnswer(cli, request);
  const { answer } = request;
  if (options.json !== true) cli.terminal.out(`${typeof answer === "string" ? printable(answer) : jsonText(answer)}\n`);
  return choice.length > 0 && answer !== choice[0] ? EXIT.failed : EXIT.done;
}

/** @returns the exit code of the command; EXIT.failed if a person rejected it */
export async function approve(
  cli: Cli,
  words: readonly [command: string, ...args: string[]],
  options: QuestionOptions & { readonly description?: string },
): Promise<number> {
  const [command, ...args] = words;
  if (args.length === 0 && ITEM.test(command))
    throw new CliError(`${command} is no command. Did you mean ${cli.program} inbox approve ${command}?`, EXIT.usage);
  const { description } = options;
  const payload = {
    actionRequests: [
      {
        name: command,
        args: { command: words.map(quoted).join(" ") },
        ...(description === undefined ? {} : { description }),
      },
    ],
    reviewConfigs: [{ actionName: command, allowedDecisions: ["approve", "reject"] }],
  };
  const request = await askRequest(cli, { payload }, options);
  if (options.json === true) cli.terminal.err(`${jsonText(request)}\n`); // the output is that of the command
  if (request.status !== "answered") return withoutAnswer(cli, request);
  const { decisions: [decision] = [] } = request.answer as {
    readonly decisions?: readonly { readonly type: string; readonly message?: string }[];
  };
  const by = typeof request.answered_by === "string" ? ` by ${oneLine(request.answered_by)}` : "";
  if (decision?.type === "approve") {
    cli.terminal.err(`approved${by}\n`);
    return cli.runProgram(command, args);
  }
  const reason = decision?.message === undefined ? "" : `: ${oneLine(decision.message)}`;
  cli.terminal.err(`rejected${by}${reason}\n`);
  return EXIT.failed;
}

/** The id of an item, as `inbox ls` shows it. */
const ITEM = /^(?=.*\d)[0-9a-f]{4,}(?:-[0-9a-f-]+)?$/;

/** A word of a command line that a person can paste into a shell. */
const quoted = (word: string): string =>
  /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

async function askRequest(
  cli: Cli,
  body: { readonly payload: unknown },
  options: QuestionOptions,
): Promise<PersonRequest> {
  const { timeout, key, title, assignee, approvals, priority } = options;
  const seconds = timeout === undefined ? undefined : readSeconds(timeout);
  if (seconds === null) throw new CliError(`--timeout ${timeout} is no duration: use 30m, 2h or 7d`, EXIT.usage);
  const metadata = await objectOption(cli, "--metadata", options.metadata);
  let told = "";
  const connection: Connection = {
    ...(await agentServer(cli, options)),
    onRetry: (reason) => {
      if (told !== reason) cli.terminal.err(`${oneLine(reason)}: trying again\n`);
      told = reason;
    },
  };
  const question = {
    ...body,
    ...(title === undefined ? {} : { title }),
    ...(seconds === undefined ? {} : { deadline: seconds }),
    ...(assignee.length === 0 ? {} : { assignees: assignee }),
    ...(approvals === undefined ? {} : { review: { approvals } }),
    ...(priority === undefined ? {} : { priority }),
    ...(metadata === null ? {} : { metadata }),
  };
  try {
    const request = await openRequest(connection, question, key ?? crypto.randomUUID());
    if (request.status !== "open") return request;
    cli.terminal.err(`waiting for an answer at ${oneLine(request.url)}\n`);
    return await waitForEnd(connection, request);
  } catch (error) {
    if (error instanceof RequestRefusedError) throw new CliError(oneLine(error.message));
    throw new CliError(error instanceof Error ? error.message : String(error), EXIT.unavailable);
  }
}

function withoutAnswer({ terminal }: Cli, { status, reason }: PersonRequest): number {
  terminal.err(`no answer: the question is ${status}${typeof reason === "string" ? `: ${oneLine(reason)}` : ""}\n`);
  return EXIT.unanswered;
}
