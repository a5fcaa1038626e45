// Command context: the dependencies of every CLI command, and its exit codes.
// Invariants:
//   - A command ends with an exit code of EXIT. A failure prints one line with its remedy.
//   - A command reads no environment, clock or terminal except its own arguments.
import type { Clock } from "@holdpoint/base/clock.ts";
import type { LocalServer } from "./local-server.ts";
import type { ClientConfig } from "./settings.ts";
import type { Terminal } from "../output/terminal.ts";

export interface Cli {
  /** How a shell starts this program: `npx holdpoint`. */
  readonly program: string;
  readonly terminal: Terminal;
  /** @throws {ConfigError} */
  readonly config: () => Promise<ClientConfig>;
  /** The server that runs on the data folder of this environment; null without one. @throws {ConfigError} */
  readonly localServer: () => Promise<LocalServer | null>;
  readonly clock: Clock;
  readonly readFile: (path: string) => string;
  /** Runs a command, reports its failure, and ends the process with its exit code: one of EXIT, or that of a program. */
  readonly run: (verb: () => Promise<number>) => Promise<void>;
  /** Opens a page on the screen of the person at this terminal. @returns false without a screen */
  readonly showPage: (url: string) => Promise<boolean>;
  /** Runs another program on this terminal; resolves with its exit code. @throws {Error} if it does not start */
  readonly runProgram: (program: string, args: readonly string[]) => Promise<number>;
}
