// The command line in tests: a real process with an empty environment, or the verbs in this process, at a tenth of the
// cost; with the captured output.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { Command, CommanderError } from "commander";
import { type Clock, systemClock } from "@holdpoint/base/clock.ts";
import { readConfig } from "@holdpoint/base/config/config.ts";
import { EXIT, PromptEndedError } from "../../packages/holdpoint/src/cli/errors/cli-error.ts";
import { toRefusal } from "../../packages/holdpoint/src/cli/errors/refusal.ts";
import { CLIENT_SETTINGS } from "../../packages/holdpoint/src/cli/client/settings.ts";
import { createTerminal } from "../../packages/holdpoint/src/cli/output/terminal.ts";
import { registerClientVerbs } from "../../packages/holdpoint/src/cli/program/register.ts";
import { formatUsageError } from "../../packages/holdpoint/src/cli/program/suggest.ts";
import { ROOT } from "./server.ts";

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** What a person types at the questions of an interactive terminal, before its input ends; without it there is none. */
  readonly typed?: readonly string[];
  readonly cwd?: string;
  /** Receives the pages that open; without it there is no screen. */
  readonly shown?: string[];
  readonly clock?: Clock;
}

export function holdpoint(args: readonly string[], { env = {}, input = "", cwd }: CliOptions = {}): Promise<Ended> {
  const child = spawn(process.execPath, [join(ROOT, "packages/holdpoint/src/main.ts"), ...args], {
    env: { PATH: process.env["PATH"], ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  child.stdin.on("error", () => undefined); // it may end before it has read
  child.stdin.end(input);
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, out, err })));
}

/**
 * A verb that talks to a server, run here: the same code on other streams, and the exit code it would have ended with.
 */
export async function verb(
  args: readonly string[],
  { env = {}, input = "", typed, shown, clock = systemClock }: CliOptions = {},
): Promise<Ended> {
  const replies = [...(typed ?? [])];
  const ask = async (question: string): Promise<string> => {
    stderr.write(question);
    const reply = replies.shift();
    if (reply === undefined) throw new PromptEndedError();
    return reply;
  };
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const written = Promise.all([text(stdout), text(stderr)]);
  let code: number | null = null;
  const tell = (message: string, exitCode: number): void => {
    stderr.write(message);
    code = exitCode;
  };
  const readText = (path: string): string => readFileSync(path, "utf8");
  const program: Command = new Command("holdpoint").exitOverride().configureOutput({
    writeOut: (chunk) => void stdout.write(chunk),
    writeErr: (chunk) => void stderr.write(chunk),
    outputError: (chunk, write) => write(formatUsageError(program, "holdpoint", chunk)),
  });
  const terminal = createTerminal({ stdin: Readable.from([input]), stdout, stderr }, env, () => undefined);
  registerClientVerbs(program, {
    program: "holdpoint",
    terminal: {
      ...terminal,
      ...(typed === undefined ? {} : { ask }),
    },
    clock,
    config: async () => readConfig(env, CLIENT_SETTINGS, readText),
    localServer: () => Promise.resolve(null),
    readFile: readText,
    showPage: (url) => {
      shown?.push(url);
      return Promise.resolve(shown !== undefined);
    },
    runProgram: () => Promise.reject(new Error("a real process runs programs")),
    run: async (work) => {
      try {
        code = await work();
        await terminal.output.end();
      } catch (error) {
        const { message, exitCode } = toRefusal(error);
        tell(`holdpoint: ${message}\n`, exitCode);
      }
    },
  });
  try {
    await program.parseAsync([...args], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    code = error.exitCode === 0 ? EXIT.done : EXIT.usage; // commander has said why
  }
  stdout.end();
  stderr.end();
  const [out, err] = await written;
  return { code, out, err };
}

/** One JSON object per line, of the caller's type. */
export function lines(text: string): readonly never[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as never);
}
