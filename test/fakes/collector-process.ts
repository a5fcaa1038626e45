// A collector in a process of its own, for tests that kill it and benchmarks that measure it. Reads the environment like main.
import { readFileSync } from "node:fs";
import { systemClock } from "../../src/base/clock.ts";
import { readConfig, secretsOf } from "../../src/base/config.ts";
import { createLog } from "../../src/base/log.ts";
import { runCollector } from "../../src/collector/run.ts";
import { collectorSettings } from "../../src/collector/settings.ts";

const config = readConfig(process.env, collectorSettings, (path) => readFileSync(path, "utf8"));
const log = createLog({
  level: "info",
  json: true,
  secrets: secretsOf(collectorSettings, config),
  now: systemClock.now,
  write: (line) => void process.stderr.write(line),
});
const collector = runCollector(config, log);
await collector.start();
process.stdout.write(`${JSON.stringify(collector.address())}\n`);
const stop = (): void => {
  void collector.stop().then(() => process.exit(collector.lost() > 0 ? 1 : 0));
};
process.once("SIGTERM", stop);
process.once("SIGINT", stop);
