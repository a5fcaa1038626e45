// SDK globals: the values `@langchain/langgraph-sdk` reads from `globalThis` in code of the deployment inside a server.
// Invariants:
//   - `new Client()` without an address talks to this server, inside the process.
//   - `getLogger()` writes into the server's log, with the node and the run of its caller.
import type { Log } from "@holdpoint/base/log/log.ts";
import type { Library } from "../langgraph/library.ts";

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

const FETCH = Symbol.for("langgraph_api:fetch");
const URL_NAME = Symbol.for("langgraph_api:url");
const LOGGER = Symbol.for("langgraph.api.sdk-logger");

export interface SdkGlobals {
  readonly bind: (fetch: Fetch) => void;
  /** Keeps later values of another server in the same process. */
  readonly remove: () => void;
}

/**
 * Call before the deployment's modules load: a module may create its client and its logger at once.
 * @param prefix `""`, or the path prefix of all addresses
 */
export function registerSdkGlobals(library: Library, log: Log, prefix: string): SdkGlobals {
  const globals = globalThis as unknown as Record<symbol, unknown>;
  let bound: Fetch | null = null;
  const fetch: Fetch = (input, init) => {
    if (bound === null) throw new Error("the server has not started yet: call it later than at import");
    return bound(input, init);
  };
  const logger = createSdkLogger(library, log);
  globals[FETCH] = fetch;
  globals[LOGGER] = logger;
  globals[URL_NAME] = `http://localhost${prefix}`;
  return {
    bind: (given) => void (bound = given),
    remove() {
      if (globals[FETCH] === fetch) for (const name of [FETCH, URL_NAME]) delete globals[name];
      if (globals[LOGGER] === logger) delete globals[LOGGER];
    },
  };
}

const LEVELS = {
  error: "error",
  warn: "warning",
  help: "info",
  data: "info",
  info: "info",
  prompt: "info",
  input: "info",
  http: "debug",
  verbose: "debug",
  debug: "debug",
  silly: "debug",
} as const;

const MESSAGE_UNITS_MAX = 32_768;

type SdkLogger = Readonly<Record<keyof typeof LEVELS, (message: unknown, ...meta: readonly unknown[]) => SdkLogger>>;

function createSdkLogger(library: Library, log: Log): SdkLogger {
  const methods = Object.entries(LEVELS).map(([name, level]) => [
    name,
    (message: unknown, ...meta: readonly unknown[]) => {
      log[level]("graph_log", { ...listFields(message, meta), ...readPlace(library) });
      return logger;
    },
  ]);
  const logger = Object.fromEntries(methods) as SdkLogger;
  return logger;
}

/** As winston takes them: a text and objects, or one object with its `message`. */
function listFields(message: unknown, meta: readonly unknown[]): Readonly<Record<string, unknown>> {
  const isObject = typeof message === "object" && message !== null && !(message instanceof Error);
  const fields: Record<string, unknown> = { message: isObject ? "" : cutText(formatMessage(message)) };
  for (const one of isObject ? [message, ...meta] : meta) {
    if (one instanceof Error) fields["error"] = `${one.name}: ${one.message}`;
    else if (typeof one === "object" && one !== null) Object.assign(fields, one);
    else if (one !== undefined) fields["meta"] = [...((fields["meta"] as unknown[] | undefined) ?? []), one];
  }
  return fields;
}

function formatMessage(message: unknown): string {
  if (message instanceof Error) return message.stack ?? message.message;
  return typeof message === "string" ? message : String(message);
}

function cutText(text: string): string {
  return text.length <= MESSAGE_UNITS_MAX ? text : `${text.slice(0, MESSAGE_UNITS_MAX)}…`;
}

/** The node and the run of the caller; empty outside a graph. */
function readPlace(library: Library): Readonly<Record<string, unknown>> {
  const config = library.langgraph.getConfig() as
    | { readonly metadata?: Record<string, unknown>; readonly configurable?: Record<string, unknown> }
    | undefined;
  const node = config?.metadata?.["langgraph_node"];
  const [threadId, runId] = [config?.configurable?.["thread_id"], config?.configurable?.["run_id"]];
  return {
    ...(node === undefined ? {} : { langgraph_node: node }),
    ...(threadId === undefined ? {} : { thread_id: threadId }),
    ...(runId === undefined ? {} : { run_id: runId }),
  };
}
