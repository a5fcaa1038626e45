/** docs/reference/cli.md lists these. */
export const EXIT = {
  done: 0,
  /** The server refused, or a check of files failed. */
  failed: 1,
  /** Invalid command line. */
  usage: 2,
  /** A question ended without an answer. */
  unanswered: 3,
  /** sysexits.h EX_UNAVAILABLE: no server answers. */
  unavailable: 69,
  /** sysexits.h EX_CONFIG. */
  config: 78,
  /** Ctrl+C, as a shell reports it. */
  interrupted: 130,
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

/** The input ended at a prompt: Ctrl+D. Nothing is answered, so nothing changes. */
export class PromptEndedError extends CliError {
  constructor() {
    super("cancelled: nothing changed");
  }
}
