// Settings act: a start with its settings, in the audit trail. describeConfig masks secrets.
import { type Config, describeConfig, type SettingsTable } from "@holdpoint/base/config/config.ts";
import type { AgentContext } from "../context/context.ts";
import { buildAct, SERVER } from "../model/audit/build-act.ts";

const VALUE_UNITS_MAX = 500;

/** Those that differ from their default. */
export async function noteStart<Table extends SettingsTable>(
  { storage, clock }: Pick<AgentContext, "storage" | "clock">,
  role: string,
  table: Table,
  config: Config<Table>,
): Promise<void> {
  const lines = describeConfig(table, config, {}).filter(({ origin }) => origin !== "default");
  const settings = Object.fromEntries(lines.map(({ name, value }) => [name, value.slice(0, VALUE_UNITS_MAX)] as const));
  const act = { action: "server_started", at: clock.now(), subject: role, fields: { settings } } as const;
  await storage.transaction((tx) => tx.audit([buildAct(SERVER, act)]));
}
