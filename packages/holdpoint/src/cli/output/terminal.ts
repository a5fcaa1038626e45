// Terminal: the streams of a process, for CLI commands.
// Invariants:
//   - If the reader closes the output early (`| head`), the process ends quietly.
//   - At a prompt, Ctrl+C ends the process, and the end of the input is no reply.
//   - Colours only on a terminal or with FORCE_COLOR, and never with NO_COLOR or FORCE_COLOR=0.
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { EXIT, PromptEndedError } from "../errors/cli-error.ts";
import { createOutput, type Output } from "./output.ts";
import type { Env } from "@holdpoint/base/config/config.ts";

export interface Streams {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: Writable;
  readonly stderr: Writable;
}

type Writable = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };

const COLUMNS_LEAST = 20;

/**
 * @param end ends the process at once
 * @param output where the commands print
 */
export function createTerminal(
  { stdin, stdout, stderr }: Streams,
  env: Env,
  end: (code: number) => void,
  output: Output = createOutput((text) => void stdout.write(text)),
): Terminal {
  const onError = (error: NodeJS.ErrnoException): void => {
    if (error.code === "EPIPE") end(EXIT.done);
    else throw error;
  };
  stdout.on("error", onError);
  stderr.on("error", onError);
  const { NO_COLOR, FORCE_COLOR, COLUMNS } = env;
  const isSet = (value: string | undefined): boolean => value !== undefined && value !== "";
  const isOff = isSet(NO_COLOR) || /^(?:0|false)$/i.test(FORCE_COLOR ?? "");
  const given = Number(COLUMNS);
  const columns = stdout.columns || (Number.isInteger(given) && given > 0 ? given : null);
  const ask = (question: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const lines = createInterface({ input: stdin, output: stderr });
      lines.once("SIGINT", () => end(EXIT.interrupted));
      lines.once("close", () => reject(new PromptEndedError()));
      lines.question(question, (reply) => {
        resolve(reply);
        lines.close();
      });
    });
  return {
    output,
    out: output.write,
    err: (chunk) => void stderr.write(chunk),
    columns: columns === null ? null : Math.max(COLUMNS_LEAST, columns),
    colour: (stdout.isTTY === true || isSet(FORCE_COLOR)) && !isOff,
    watched: stderr.isTTY === true,
    readInput: () => text(stdin),
    ask: stdin.isTTY === true && stderr.isTTY === true ? ask : null,
  };
}

export interface Terminal {
  readonly output: Output;
  /** Writes to `output`. */
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /**
   * Width of a line in columns; null if the output is no terminal and no width is set: lines have their full length.
   */
  readonly columns: number | null;
  readonly colour: boolean;
  /** Whether a person can watch progress: the error output is a terminal. */
  readonly watched: boolean;
  /** All of standard input, for values too long for a command line. */
  readonly readInput: () => Promise<string>;
  /** The reply of the person at the terminal; null without one. @throws {PromptEndedError} */
  readonly ask: ((question: string) => Promise<string>) | null;
}
