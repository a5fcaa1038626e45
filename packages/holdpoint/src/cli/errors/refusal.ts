// Refusal: the reason why a command stopped → the message, and the exit code that states whether a restart can help.
import { EXIT } from "./cli-error.ts";

export interface Refusal {
  readonly message: string;
  readonly exitCode: number;
}

/** Errors with an exit code keep it. A fault in a configuration file is EXIT.config; every other error is a failure. */
export function toRefusal(error: unknown): Refusal {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  if (error instanceof Error && "exitCode" in error) return { message, exitCode: Number(error.exitCode) };
  if (name === "ConfigError") return { message: `Invalid configuration:\n${message}`, exitCode: EXIT.config };
  return { message, exitCode: CONFIGURED.has(name) ? EXIT.config : EXIT.failed };
}

const CONFIGURED: ReadonlySet<string> = new Set(["ConfigFileError", "DataFolderError", "NewerDatabaseError"]);
