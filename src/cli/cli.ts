// Cli: what every verb of the terminal gets from outside, and how it ends.
// Invariants:
//   CL1. A verb ends with an exit code of EXIT. What failed is told in one line that says what to do.
//   CL2. A verb reads no environment, no clock and no terminal but those that it is given.
import type { Clock } from "../base/clock.ts";
import type { ClientConfig } from "./settings.ts";

/** docs/cli.md lists these. */
export const EXIT = {
  done: 0,
  /** The server, or the files that were looked at, said no. */
  failed: 1,
  /** The command line cannot be understood. */
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
  /** Signs a line; null when the output is no terminal and nothing says how wide it is: lines are as long as they are. */
  readonly columns: number | null;
  readonly colour: boolean;
  /** Whether somebody sees what is going on: the error output is a terminal. */
  readonly watched: boolean;
  /** Everything that comes in, for values that are too long for a command line. */
  readonly readInput: () => Promise<string>;
  /** The answer of the person at the terminal; null when nobody is there. */
  readonly ask: ((question: string) => Promise<string>) | null;
}

export interface Cli {
  readonly terminal: Terminal;
  /** @throws {ConfigError} */
  readonly config: () => Promise<ClientConfig>;
  readonly clock: Clock;
  readonly readFile: (path: string) => string;
  /** Runs a verb, tells what went wrong, and ends the process with its exit code (CL1). */
  readonly run: (verb: () => Promise<ExitCode>) => Promise<void>;
}
