// Validate: loads everything that a langgraph.json names, before deployment.
import type { Cli } from "../../client/command-context.ts";
import { EXIT, type ExitCode } from "../../errors/cli-error.ts";
import { type PrintOptions, paint, printJson } from "../../output/print.ts";
import { oneLine } from "../../output/sanitize.ts";

export interface Validation {
  readonly file: string;
  readonly graphs: readonly {
    readonly graph_id: string;
    readonly source: string;
    readonly nodes: readonly string[];
    /** Null if it loads. */
    readonly problem: string | null;
  }[];
  /** Further errors, each with its position. */
  readonly problems: readonly string[];
  /** Entries without effect. */
  readonly remarks: readonly string[];
}

export type Validate = (file: string | undefined) => Promise<Validation>;

export async function validate(
  { terminal }: Cli,
  check: Validate,
  file: string | undefined,
  options: PrintOptions,
): Promise<ExitCode> {
  const found = await check(file);
  const valid = found.problems.length === 0 && found.graphs.every(({ problem }) => problem === null);
  if (options.json === true) printJson(terminal, { valid, ...found });
  else {
    const ok = paint(terminal, "green", "ok  ");
    const fail = paint(terminal, "red", "fail");
    for (const { graph_id: id, nodes, problem } of found.graphs)
      terminal.out(
        problem === null ? `${ok}  ${oneLine(id)}: ${oneLine(nodes.join(", "))}\n` : `${fail}  ${oneLine(problem)}\n`,
      );
    for (const problem of found.problems) terminal.out(`${fail}  ${oneLine(problem)}\n`);
    for (const remark of found.remarks) terminal.out(`${paint(terminal, "yellow", "warn")}  ${oneLine(remark)}\n`);
  }
  return valid ? EXIT.done : EXIT.failed;
}
