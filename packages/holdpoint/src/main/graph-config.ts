// Graph config: the file that names the graphs of a command, and what a folder without one is told.
import { existsSync } from "node:fs";
import { GRAPH_CONFIG_FILE, graphConfigFile } from "@holdpoint/server/model/assistant-defaults.ts";
import type { AgentConfig } from "@holdpoint/server/server/settings.ts";

/** @param named the file of the command line @throws {CliError} if nothing names one and the folder has none */
export async function findGraphConfig(
  { graphConfig }: Pick<AgentConfig, "graphConfig">,
  named: string | undefined,
  program: string,
): Promise<string> {
  const file = named ?? graphConfigFile(graphConfig);
  if (file !== GRAPH_CONFIG_FILE || existsSync(file)) return file;
  const [{ explainNoConfig }, { CliError, EXIT }] = await Promise.all([
    import("../cli/commands/checks/no-config.ts"),
    import("../cli/errors/cli-error.ts"),
  ]);
  throw new CliError(explainNoConfig(program).join(": "), EXIT.config);
}
