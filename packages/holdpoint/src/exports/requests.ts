// Requests: `import { ask, approve } from "holdpoint/requests"`: questions of any program to people, over a Holdpoint
// server.
// Rules:
//   - With a `key` a question survives the program: the same call with the same key, after a restart too, gets the
//     question that is there, or its answer. Without one, each call asks anew.
//   - The default of `url` is HOLDPOINT_URL, that of `apiKey` HOLDPOINT_API_KEY.
import {
  type Connection,
  openRequest,
  type PersonRequest,
  RequestRefusedError,
  waitForEnd,
} from "../cli/client/requests.ts";

export { type PersonRequest, RequestRefusedError };

/** Members as in docs/reference/requests.md. */
export interface QuestionOptions extends Partial<Connection> {
  /** Names the question: `deploy-1.4`. 1 to 255 characters. */
  readonly key?: string;
  /** One line for lists. */
  readonly title?: string;
  /** Seconds until the question expires, or gets `onTimeout` as its answer. */
  readonly timeout?: number;
  readonly onTimeout?: unknown;
  readonly assignees?: readonly string[];
  readonly review?: Readonly<Record<string, unknown>>;
  readonly priority?: "low" | "normal" | "high" | "urgent";
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly notify?: Readonly<Record<string, unknown>> | false;
  readonly webhook?: string;
  /** Called with the open question: its `url` is where a person answers. */
  readonly onOpen?: (request: PersonRequest) => void;
}

export interface AskOptions<Choice extends string> extends QuestionOptions {
  /** The answers to choose from. */
  readonly choices?: readonly Choice[];
  /** JSON Schema of the answer; Zod 4 makes one with `z.toJSONSchema(schema)`. */
  readonly schema?: Readonly<Record<string, unknown>>;
}

/** The question ended without an answer: its `request` says how. */
export class RequestEndedError extends Error {
  readonly request: PersonRequest;
  constructor(request: PersonRequest) {
    const { reason } = request;
    super(
      `the request has ${request.status === "expired" ? "expired" : `been ${request.status}`}${typeof reason === "string" ? `: ${reason}` : ""}`,
    );
    this.name = "RequestEndedError";
    this.request = request;
  }
}

/** A person rejected the call of a function; the message is theirs. */
export class RejectedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "RejectedError";
  }
}

/**
 * Asks people, and waits for the answer: through lost connections and restarts of the server.
 * @param payload a text, or any JSON
 * @throws {RequestEndedError} without an answer @throws {RequestRefusedError}
 */
export async function ask<const Choice extends string>(
  payload: unknown,
  options: AskOptions<Choice> & { readonly choices: readonly Choice[] },
): Promise<Choice>;
export async function ask<Answer = unknown>(payload: unknown, options?: AskOptions<string>): Promise<Answer>;
export async function ask(payload: unknown, options: AskOptions<string> = {}): Promise<unknown> {
  const request = await askRequest(payload, options);
  if (request.status !== "answered") throw new RequestEndedError(request);
  return request.answer;
}

/** Asks, and returns the request at its end, with or without an answer. @throws {RequestRefusedError} */
export async function askRequest(payload: unknown, options: AskOptions<string> = {}): Promise<PersonRequest> {
  const { url, apiKey, signal, onRetry, key, choices, timeout, onTimeout, onOpen, ...members } = options;
  const connection = { ...readServer(url, apiKey), signal, onRetry };
  const { schema = choices && { enum: choices }, ...rest } = members;
  const body = {
    payload,
    ...rest,
    ...(schema === undefined ? {} : { response_schema: schema }),
    ...(timeout === undefined ? {} : { deadline: timeout }),
    ...(onTimeout === undefined ? {} : { on_deadline: { answer: onTimeout } }),
  };
  const request = await openRequest(connection, body, key ?? crypto.randomUUID());
  onOpen?.(request);
  return request.status === "open" ? waitForEnd(connection, request) : request;
}

function readServer(url: string | undefined, apiKey: string | undefined): Pick<Connection, "url" | "apiKey"> {
  const env = globalThis.process?.env ?? {}; // a browser has none
  const address = url ?? env["HOLDPOINT_URL"];
  if (address === undefined || address === "") throw new TypeError("no server: set HOLDPOINT_URL, or pass url");
  return { url: address, apiKey: apiKey ?? env["HOLDPOINT_API_KEY"] };
}

export interface ApprovalOptions<Args> extends Omit<QuestionOptions, "key" | "onTimeout"> {
  /** Markdown, above the arguments. */
  readonly description?: string;
  /** Clients ask for a confirmation before they send a decision. */
  readonly dangerous?: boolean;
  /** Whether the person may change the arguments; the default is true. */
  readonly editable?: boolean;
  /** JSON Schema of edited arguments. */
  readonly argsSchema?: Readonly<Record<string, unknown>>;
  readonly key?: string | ((args: Args) => string);
}

/** `args` are those to act with: edited ones if the person changed them. */
export type Decision<Args> =
  | { readonly approved: true; readonly args: Args; readonly edited: boolean }
  | { readonly approved: false; readonly message: string };

/** Lets a person approve, edit or reject a call of `action`. @throws {RequestEndedError} @throws {RequestRefusedError} */
export async function decide<Args>(
  action: string,
  args: Args,
  options: ApprovalOptions<Args> = {},
): Promise<Decision<Args>> {
  const { description, dangerous, editable = true, argsSchema, key, ...question } = options;
  const allowedDecisions = editable ? ["approve", "edit", "reject"] : ["approve", "reject"];
  const payload = {
    actionRequests: [{ name: action, args, description, dangerous }],
    reviewConfigs: [{ actionName: action, allowedDecisions, argsSchema }],
  };
  const answer = await ask<{ readonly decisions: readonly Decided<Args>[] }>(payload, {
    ...question,
    ...(key === undefined ? {} : { key: typeof key === "function" ? key(args) : key }),
  });
  const [decision] = answer.decisions;
  if (decision?.type === "approve") return { approved: true, args, edited: false };
  if (decision?.type === "edit") return { approved: true, args: decision.editedAction.args, edited: true };
  return { approved: false, message: decision?.message ?? `${action} was rejected` };
}

type Decided<Args> =
  | { readonly type: "approve" }
  | { readonly type: "edit"; readonly editedAction: { readonly args: Args } }
  | { readonly type: "reject"; readonly message?: string };

/**
 * Wraps a function of one object: each call waits for a person, then runs with the approved arguments.
 * After a crash between the answer and the end of the function, the same key runs it again without asking.
 */
export function approve<Args, Result>(
  tool: (args: Args) => Result | Promise<Result>,
  { name = tool.name, ...options }: ApprovalOptions<Args> & { readonly name?: string } = {},
): (args: Args) => Promise<Result> {
  if (name === "") throw new TypeError("a function without a name needs the option name");
  return async (args) => {
    const decision = await decide(name, args, options);
    if (!decision.approved) throw new RejectedError(decision.message);
    return tool(decision.args);
  };
}
