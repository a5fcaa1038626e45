// Verb ports: the parts of other packages that the terminal's commands use.
import { join } from "node:path";
import { graphConfigFile } from "@holdpoint/server/model/assistant-defaults.ts";
import type { VerbPorts } from "../cli/program/register.ts";
import { collectorConfig } from "./collect.ts";
import { findGraphConfig } from "./graph-config.ts";
import { setGraphEnvironment } from "./graph-environment.ts";
import { type Host, type Product, isReadable, openLog, productSecrets, readTableConfig } from "./host.ts";
import { createMover } from "./mover.ts";
import { existsSync } from "node:fs";
import { PUBLISHED } from "./published.ts";

export function createVerbPorts(host: Host): VerbPorts {
  const { root, nodeRequired, dependencies } = host.product;
  const agentConfig = async () =>
    readTableConfig((await import("@holdpoint/server/server/settings.ts")).AGENT_SETTINGS, host.env);
  return {
    mover: createMover(host, agentConfig),
    template: {
      folder: join(root, "packages/holdpoint/src/cli/template"),
      own: findOwnPackage(host.product),
      versions: dependencies,
    },
    validate: async (file) => {
      const { validateFile } = await import("@holdpoint/server/graphs/validate.ts");
      const { graphConfig, graphEnv: listed } = await agentConfig();
      const path = await findGraphConfig({ graphConfig }, file, host.program);
      const secrets = await productSecrets();
      console.log = console.error; // output of graphs during loading is not part of the result
      const log = await openLog(host, {}, { logLevel: "error", logJson: null });
      return validateFile(
        path,
        host.env,
        (graphs) => setGraphEnvironment(host.environment, { listed, ...secrets, graphs }),
        log,
      );
    },
    testNotifications: async (rule) => (await import("./notify.ts")).testNotifications(await agentConfig(), rule),
    around: {
      nodeVersion: `v${host.nodeVersion}`,
      nodeRequired,
      agent: agentConfig,
      collector: async () => {
        const { httpPort: port, tracePort: tracesPort, endpoint } = (await collectorConfig(host)).config;
        const isSet = (name: string): boolean => (host.env[name] ?? "") !== "";
        return { port, tracesPort, endpoint, named: { port: isSet("HTTP_PORT"), tracesPort: isSet("TRACES_PORT") } };
      },
      graphs: async () => {
        const file = graphConfigFile((await agentConfig()).graphConfig);
        if (!isReadable(file)) return null;
        const { graphs, remarks } = (
          await import("@holdpoint/server/graphs/config/langgraph-json.ts")
        ).readGraphsConfig(file, host.env);
        return { file, ids: graphs.map(({ graphId }) => graphId), remarks };
      },
    },
  };
}

/** What a new project depends on for `holdpoint`. */
interface OwnPackage {
  /** A version, or until the packages are in the registry `file:` and the path of the packed one. */
  readonly dependency: string;
  /** The command that makes the packed file, if it is not there. */
  readonly firstStep: string | null;
}

export function findOwnPackage({ root, version, packedAt }: Product): OwnPackage {
  const isClone = existsSync(join(root, "deploy", "package.ts"));
  const file = isClone ? join(root, "dist", "packages", `holdpoint-${version}.tgz`) : packedAt;
  const isThere = file !== undefined && existsSync(file);
  // An image, or a package whose clone has gone, has no file to refer to.
  if (PUBLISHED || file === undefined || !(isThere || isClone)) return { dependency: `^${version}`, firstStep: null };
  return { dependency: `file:${file}`, firstStep: isThere ? null : `npm --prefix ${JSON.stringify(root)} run package` };
}
