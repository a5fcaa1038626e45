// Output: what a command prints, whole or through an expression of jq, as `gh` has it.
// With an expression nothing passes by it, and an invalid one stops the command before it begins.
import { visible } from "@holdpoint/api/text/visible-text.ts";
import { CliError, EXIT } from "../errors/cli-error.ts";

export interface Output {
  readonly write: (text: string) => void;
  /** Every later text is JSON: one document, or several. @throws {CliError} for an invalid expression */
  readonly filter: (expression: string) => Promise<void>;
  /** Whether an expression applies: a list is then one array. */
  readonly isFiltered: () => boolean;
  /** Waits for what was written. @throws {CliError} if the expression failed on it */
  readonly end: () => Promise<void>;
}

export function createOutput(print: (text: string) => void): Output {
  let expression: string | null = null;
  let written: Promise<void> = Promise.resolve();
  return {
    write(text) {
      if (expression === null) return print(text);
      const chosen = expression;
      written = written.then(async () => print(await runJq(text, chosen, EXIT.failed)));
      written.catch(() => undefined); // end() tells
    },
    async filter(given) {
      await runJq("", given, EXIT.usage);
      expression = given;
    },
    isFiltered: () => expression !== null,
    end: () => written,
  };
}

/** jq itself, compiled to WebAssembly. Texts are raw, everything else is one line of JSON. @throws {CliError} */
async function runJq(
  text: string,
  expression: string,
  failure: typeof EXIT.failed | typeof EXIT.usage,
): Promise<string> {
  const { raw } = await import("jq-wasm");
  const { exitCode } = process;
  try {
    const found = await raw(text, expression, ["-r", "-c"]);
    return found === "" ? "" : visible(`${found}\n`);
  } catch (error) {
    const [said = ""] = String(error instanceof Error ? error.message : error).split("\n");
    throw new CliError(
      `--jq: ${visible(said.replace(/^jq: (?:error(?: \(at [^)]*\))?: )?| at <top-level>, line \d+:$/g, ""))}`,
      failure,
    );
  } finally {
    process.exitCode = exitCode; // an invalid expression sets it, as if jq were the program
  }
}
