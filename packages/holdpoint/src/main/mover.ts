// Mover: copies of all data, by the commands backup, export and import, each with its act.
import { resolve } from "node:path";
import type { AgentConfig } from "@holdpoint/server/server/settings.ts";
import type { BackupPorts } from "../cli/commands/backup.ts";
import { buildCommandAct, leaveBackupAct, takeBackupActs } from "./command-acts.ts";
import { findGraphConfig } from "./graph-config.ts";
import { setGraphEnvironment } from "./graph-environment.ts";
import { type Host, productSecrets } from "./host.ts";
import { withStorage } from "./storage.ts";

type Settings = Pick<AgentConfig, "databaseUri" | "dataDir" | "graphConfig" | "graphEnv">;

export function createMover(host: Host, agentConfig: () => Promise<Settings>): BackupPorts {
  const chooseFolder = async (dataDir: string | undefined): Promise<string> => {
    const config = await agentConfig();
    if (dataDir === undefined && config.databaseUri !== null)
      throw new Error("the data is in PostgreSQL (DATABASE_URI): back it up with pg_dump");
    return dataDir ?? config.dataDir;
  };
  return {
    backUp: async (dataDir, file) => {
      const folder = await chooseFolder(dataDir);
      const { backUp } = await import("@holdpoint/server/storage/sqlite/backup.ts");
      return backUp(folder, file, () => leaveBackupAct(folder, resolve(file)));
    },
    exportTo: (dataDir, file) =>
      withStorage(host, dataDir, async (storage, versions) => {
        const { dataDir: usual, databaseUri } = await agentConfig();
        const folder = dataDir ?? (databaseUri === null ? usual : null);
        if (folder !== null) await takeBackupActs(folder)((made) => storage.transaction((tx) => tx.audit([made]))); // no server records them
        const act = buildCommandAct("data_exported", resolve(file));
        const { exportFile } = await import("@holdpoint/server/storage/dump/dump-file.ts");
        return exportFile(storage, versions, { target: file, act });
      }),
    importFrom: (dataDir, file) =>
      withStorage(host, dataDir, async (storage, versions) => {
        const { importFile } = await import("@holdpoint/server/storage/dump/dump-file.ts");
        const counts = await importFile(storage, versions, file);
        await storage.transaction((tx) => tx.audit([buildCommandAct("data_imported", resolve(file))]));
        return counts;
      }),
    importLangGraph: async (dataDir, from) => {
      const [{ readGraphsConfig }, { importLangGraph }] = await Promise.all([
        import("@holdpoint/server/graphs/config/langgraph-json.ts"),
        import("@holdpoint/server/graphs/import-langgraph.ts"),
      ]);
      const { graphConfig, graphEnv: listed } = await agentConfig();
      const graphs = readGraphsConfig(await findGraphConfig({ graphConfig }, undefined, host.program), host.env);
      console.log = console.error; // output of graphs during loading is not part of the result
      setGraphEnvironment(host.environment, { listed, ...(await productSecrets()), graphs });
      return withStorage(host, dataDir, async (storage) => {
        const counts = await importLangGraph(storage, graphs, from, Date.now);
        const act = buildCommandAct("data_imported", "LangGraph's tables", counts);
        await storage.transaction((tx) => tx.audit([act]));
        return counts;
      });
    },
  };
}
