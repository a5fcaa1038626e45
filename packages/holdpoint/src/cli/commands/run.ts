// Run: starts a run, prints its events as they arrive, and shows the pause with the commands that answer it.
// Invariants:
//   - A pause is a success: the run is stored and continues after the answer. A failed run is not.
//   - With --json each event is one line, and the last line names the thread, its status and its pending items.
//   - The error of a run names the file and the line of the project that failed.
//   - The run creates its thread, so that a rejected run leaves none.
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { shortId } from "@holdpoint/api/text/short-id.ts";
import { randomUUID } from "node:crypto";
import { type Json, isJsonObject } from "@holdpoint/base/json/json.ts";
import { type Client, type ServerOptions, type StreamEvent, agentClient } from "../client/api-client.ts";
import type { Cli } from "../client/command-context.ts";
import { findThread, inboxItems } from "../client/resolve-id.ts";
import { EXIT, type ExitCode } from "../errors/cli-error.ts";
import { type PrintOptions, paint } from "../output/print.ts";
import { jsonText, oneLine, printable } from "../output/sanitize.ts";
import { itemLines } from "./inbox-list.ts";
import { jsonOption, objectOption } from "./input.ts";

export interface RunOptions extends ServerOptions, PrintOptions {
  readonly input?: string;
  readonly message?: string;
  readonly thread?: string;
  readonly onPaused?: string;
  readonly configurable?: string;
  readonly context?: string;
  readonly metadata?: string;
  readonly stream: "updates" | "values" | "messages";
}

const ITEMS_MAX = 100;

export async function runAssistant(cli: Cli, assistant: string, options: RunOptions): Promise<ExitCode> {
  const body = await buildBody(cli, assistant, options);
  const client = await agentClient(cli, options);
  const id = options.thread === undefined ? randomUUID() : await findThread(client, options.thread);
  const print = createPrinter(cli, options.json === true);
  let failed = false;
  let runId: string | null = null;
  for await (const event of client.stream(`/threads/${id}/runs/stream`, body)) {
    if (event.event === "error") failed = true;
    if (event.event === "metadata") {
      runId = readRunId(event.data);
      if (options.json !== true) cli.terminal.err(`${paint(cli.terminal, "dim", `thread ${id}`)}\n`);
    }
    print(event);
  }
  if (failed && runId !== null && options.json !== true)
    for (const frame of await ownFrames(client, `/threads/${id}/runs/${runId}`)) cli.terminal.out(`${frame}\n`);
  const { status }: { readonly status: string } = await client.get(`/threads/${id}`);
  const items = await inboxItems(client, { thread_id: id }, ITEMS_MAX);
  if (options.json === true) cli.terminal.out(`${jsonText({ thread_id: id, status, items })}\n`);
  else cli.terminal.out(describeEnd(cli, id, status, items));
  return failed || status === "error" ? EXIT.failed : EXIT.done;
}

async function buildBody(cli: Cli, assistant: string, options: RunOptions): Promise<object> {
  const { input, message, onPaused } = options;
  const configurable = await objectOption(cli, "--configurable", options.configurable);
  const context = await objectOption(cli, "--context", options.context);
  const metadata = await objectOption(cli, "--metadata", options.metadata);
  const given: Json =
    message !== undefined
      ? { messages: [{ role: "user", content: message }] }
      : input === undefined
        ? null
        : await jsonOption(cli, "--input", input);
  return {
    assistant_id: assistant,
    if_not_exists: "create",
    input: given,
    stream_mode: options.stream === "messages" ? "messages-tuple" : options.stream,
    ...(onPaused === undefined ? {} : { on_paused: onPaused }),
    ...(configurable === null ? {} : { config: { configurable } }),
    ...(context === null ? {} : { context }),
    ...(metadata === null ? {} : { metadata }),
  };
}

function readRunId(data: Json): string | null {
  const id = isJsonObject(data) ? data["run_id"] : undefined;
  return typeof id === "string" ? id : null;
}

const FRAMES_MAX = 5;

/** The stack of the failed run without frames of packages. */
async function ownFrames(client: Client, path: string): Promise<readonly string[]> {
  const { error }: { readonly error?: { readonly stack?: string } } = await client.get(path);
  const frames = (error?.stack ?? "").split("\n").filter((line) => line.startsWith("    at "));
  return frames
    .filter((line) => !line.includes("node_modules"))
    .slice(0, FRAMES_MAX)
    .map((line) => printable(line));
}

/** Text of messages is printed as it arrives; every other event is a line. */
export function createPrinter({ terminal }: Cli, json: boolean): (event: StreamEvent) => void {
  if (json) return ({ event, data }) => terminal.out(`${jsonText({ event, data })}\n`);
  let inText = false;
  const line = (text: string): void => {
    terminal.out(`${inText ? "\n" : ""}${text}\n`);
    inText = false;
  };
  return ({ event, data }) => {
    if (event === "messages") {
      const text = readToken(data);
      if (text === "") return;
      terminal.out(printable(text));
      inText = true;
    } else if (event === "error") line(`${paint(terminal, "red", "error")}  ${errorText(data)}`);
    else if (event === "updates" && isJsonObject(data))
      for (const [node, update] of Object.entries(data)) {
        if (node !== "__interrupt__") line(`${paint(terminal, "cyan", oneLine(node))}  ${jsonText(update)}`);
      }
    else if (event === "waiting")
      line(paint(terminal, "yellow", "waiting  the thread waits for a person, and this run for the answer"));
    else if (event === "values") line(jsonText(isJsonObject(data) ? { ...data, __interrupt__: undefined } : data, 2));
  };
}

/** `[{content: "Hel"}, metadata]` → `Hel` */
function readToken(data: Json): string {
  const [chunk] = Array.isArray(data) ? data : [];
  const content = isJsonObject(chunk) ? chunk["content"] : "";
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? content : [];
  return parts.map((part) => (isJsonObject(part) && typeof part["text"] === "string" ? part["text"] : "")).join("");
}

function errorText(data: Json): string {
  if (!isJsonObject(data)) return jsonText(data);
  const { error, message } = data;
  return oneLine(`${typeof error === "string" ? error : "Error"}: ${typeof message === "string" ? message : ""}`);
}

function describeEnd(
  { terminal, clock, program }: Cli,
  thread: string,
  status: string,
  items: readonly InboxItem[],
): string {
  const next = `${program} threads state ${shortId(thread)}`;
  if (items.length === 0) return `\n${status === "idle" ? "done" : status}  → ${next}\n`;
  const shown = items.flatMap((item) => ["", ...itemLines({ terminal, program }, item, clock.now())]);
  return `\npaused${shown.length === 0 ? "" : `\n${shown.join("\n")}`}\n`;
}
