// Unknown settings: variables with our prefix that no part reads: a misspelled one would do nothing in silence.
import type { Log } from "../log/log.ts";
import type { Env, SettingsTable } from "./config.ts";

const OWN_PREFIX = "HOLDPOINT_";

/** A warning in the log for each. @param tables every setting of the program */
export function warnOfUnknown(env: Env, tables: readonly SettingsTable[], log: Log): void {
  const settings = tables.flatMap((table) => Object.values(table));
  const names = new Set(
    settings.flatMap(({ name, aliases }) => [name, ...aliases].flatMap((one) => [one, `${one}_FILE`])),
  );
  for (const name of Object.keys(env)) {
    if (!name.startsWith(OWN_PREFIX) || names.has(name)) continue;
    const reason =
      "no setting of this program has this name, so it does nothing; docs/reference/configuration.md lists the settings";
    log.warning("setting_unknown", { name, reason });
  }
}
