// Validate: loads everything that a langgraph.json names, before deployment.
import type { Validation } from "@holdpoint/server/graphs/validate.ts";
import type { Cli } from "../../client/command-context.ts";
import { EXIT, type ExitCode } from "../../errors/cli-error.ts";
import { type PrintOptions, paint, printJson } from "../../output/print.ts";
import { oneLine } from "../../output/sanitize.ts";

export type Validate = (file: string | undefined) => Promise<Validation>;

export async function validate(
  { terminal }: Cli,
  check: Validate,
  options: PrintOptions & { readonly config?: string },
): Promise<ExitCode> {
  const found = await check(options.config);
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
