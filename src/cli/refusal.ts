// Refusal: why a command stopped → what is told, and the exit code that says whether starting again can help.
import { EXIT } from "./cli.ts";

export interface Refusal {
  readonly message: string;
  readonly exitCode: number;
}

/** Errors that name their exit code keep it. What is wrong in a file that is configuration is EXIT.config; the rest failed. */
export function refusalOf(error: unknown): Refusal {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  if (error instanceof Error && "exitCode" in error) return { message, exitCode: Number(error.exitCode) };
  if (name === "ConfigError") return { message: `The configuration is wrong:\n${message}`, exitCode: EXIT.config };
  return { message, exitCode: CONFIGURED.has(name) ? EXIT.config : EXIT.failed };
}

const CONFIGURED: ReadonlySet<string> = new Set(["ConfigFileError", "NewerDatabaseError"]);
