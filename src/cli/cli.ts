// Command context: the dependencies of every CLI command, and its exit codes.
// Invariants:
//   CL1. A command ends with an exit code of EXIT. A failure prints one line with its remedy.
//   CL2. A command reads no environment, clock or terminal except its own arguments.
import type { Clock } from "../base/clock.ts";
import type { ClientConfig } from "./settings.ts";

/** docs/cli.md lists these. */
export const EXIT = {
  done: 0,
  /** The server refused, or a check of files failed. */
  failed: 1,
  /** Invalid command line. */
  usage: 2,
  /** sysexits.h EX_UNAVAILABLE: no server answers. */
  unavailable: 69,
  /** sysexits.h EX_CONFIG. */
  config: 78,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export class CliError extends Error {
  readonly exitCode: ExitCode;
  constructor(message: string, exitCode: ExitCode = EXIT.failed) {
    super(message);
    this.name = "CliError";
    this.exitCode = exitCode;
  }
}

export interface Terminal {
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
  /** The reply of the person at the terminal; null without an interactive terminal. */
  readonly ask: ((question: string) => Promise<string>) | null;
}

export interface Cli {
  readonly terminal: Terminal;
  /** @throws {ConfigError} */
  readonly config: () => Promise<ClientConfig>;
  readonly clock: Clock;
  readonly readFile: (path: string) => string;
  /** Runs a command, reports its failure, and ends the process with its exit code (CL1). */
  readonly run: (verb: () => Promise<ExitCode>) => Promise<void>;
}
