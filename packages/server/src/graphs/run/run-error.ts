// Run error: the exception of a graph → the error in the run's row.
// Rules:
//   - The stack names the user's own files and lines, relative to the project: with source maps, without hot reload's
//     queries and frames of Node.
//   - Everything has a limit: frames, causes, and total length.
//   - LangGraph's own mark tells a refused answer: it names an error caused by a resume value, also as the cause of
//     another.
//   - If another task of the same step failed for its own reason, the run has failed.
import { relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { ApiError, describeError } from "@holdpoint/base/api-error.ts";
import { INVALID_RESUME } from "../langgraph/remote-answers.ts";
import type { ErrorInfo, Run } from "../../model/model.ts";

const RECURSION_LIMIT = 25;
/** Limit of named nodes if several fail in one step. */
const ERRORS_NAMED_MAX = 5;
const FRAMES_MAX = 20;
const CAUSES_MAX = 3;
const MESSAGE_UNITS_MAX = 500;
const STACK_UNITS_MAX = 4000;

/** @param folder the project: paths in the stack are relative to it */
export function runError(thrown: unknown, run: Run, folder: string): ErrorInfo {
  const stack = formatStack(thrown, folder);
  return { ...namedError(thrown, run), ...(stack === "" ? {} : { stack }) };
}

function namedError(thrown: unknown, run: Run): ErrorInfo {
  const { name, message } = describeError(thrown);
  if (thrown instanceof ApiError) return { error: thrown.code, message };
  if (isRefusedAnswer(thrown))
    return {
      error: "answer_invalid",
      message: `The graph rejected the answer; its interrupt is open again. ${message}`,
    };
  if (thrown instanceof AggregateError) {
    const causes = thrown.errors.slice(0, ERRORS_NAMED_MAX).map((one) => describeError(one));
    return { error: name, message: `${message} ${causes.map((one) => `${one.name}: ${one.message}`).join("; ")}` };
  }
  if (name !== "GraphRecursionError") return { error: name, message };
  const given = run.request.config["recursion_limit"];
  const limit = typeof given === "number" ? given : RECURSION_LIMIT;
  const cure = "Raise recursion_limit in the run's config, or look for an endless loop.";
  return {
    error: name,
    message: `Recursion limit of ${limit} steps reached before the graph came to an end. ${cure}`,
  };
}

function formatStack(thrown: unknown, folder: string): string {
  const several = thrown instanceof AggregateError ? thrown.errors.slice(0, ERRORS_NAMED_MAX) : [thrown];
  const text = several.map((one) => withCauses(one, folder)).join("\n");
  return text.length <= STACK_UNITS_MAX ? text : `${text.slice(0, STACK_UNITS_MAX).trimEnd()} …`;
}

function withCauses(thrown: unknown, folder: string): string {
  const lines: string[] = [];
  let current = thrown;
  for (let depth = 0; depth <= CAUSES_MAX && current instanceof Error; depth++) {
    const frames = listFrames(current, folder);
    if (frames.length > 0 || depth > 0) {
      const { name, message } = describeError(current);
      const head = message.length <= MESSAGE_UNITS_MAX ? message : `${message.slice(0, MESSAGE_UNITS_MAX)} …`;
      lines.push(`${depth === 0 ? "" : "caused by "}${name}: ${head}`, ...frames);
    }
    current = current.cause;
  }
  return lines.join("\n");
}

const FRAME = /^ {4}at /;
const INTERNAL = /\(?node:|<anonymous>\)?$/;

function listFrames(error: Error, folder: string): readonly string[] {
  let stack: unknown;
  try {
    stack = error.stack; // may be a getter of the user's
  } catch {
    return [];
  }
  if (typeof stack !== "string") return [];
  return stack
    .split("\n")
    .filter((line) => FRAME.test(line) && !INTERNAL.test(line))
    .slice(0, FRAMES_MAX)
    .map((line) => shortened(line, folder));
}

const PLACE = /(file:\/\/\/[^\s()?]+?|(?<=[\s(])(?:[A-Za-z]:)?[\\/][^()?]+?)(?:\?[^\s:()]*)?(:\d+:\d+\)?)$/;

function shortened(line: string, folder: string): string {
  return line.replace(PLACE, (_, place: string, position: string) => {
    const path = place.startsWith("file:") ? fileURLToPath(place) : place;
    const short = relative(folder, path);
    const inPackages = path.lastIndexOf(`${sep}node_modules${sep}`);
    const shown =
      inPackages >= 0 ? path.slice(inPackages + 1) : short.startsWith(`..${sep}..${sep}..${sep}`) ? path : short;
    return `${shown}${position}`;
  });
}

const MARKED_CAUSES_MAX = 10;

/** LangGraph rejected an answer that passed the check before acceptance (a refinement of a Zod schema). */
export function isRefusedAnswer(thrown: unknown): boolean {
  if (thrown instanceof AggregateError) return thrown.errors.length > 0 && thrown.errors.every((one) => isMarked(one));
  return isMarked(thrown);
}

function isMarked(thrown: unknown): boolean {
  let current: unknown = thrown;
  for (let depth = 0; depth < MARKED_CAUSES_MAX; depth++) {
    if (typeof current !== "object" || current === null) return false;
    if (Reflect.get(current, INVALID_RESUME) === true) return true;
    current = Reflect.get(current, "cause");
  }
  return false;
}

/** The node asks another question at the place of an answer, which it did not get (langgraph/asked-payload.ts). */
export function interruptMoved(): ApiError {
  const detail =
    "The node asked another question than the one that was answered. Nothing was delivered, and the question is open again. Make the questions of the node the same each time it runs, or send input null to have it ask anew.";
  return new ApiError("interrupt_moved", detail);
}

export function isInterruptMoved(thrown: unknown): boolean {
  return thrown instanceof ApiError && thrown.code === "interrupt_moved";
}
