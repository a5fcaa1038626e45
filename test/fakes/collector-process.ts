// A collector in a separate process, for tests that kill it and benchmarks that measure it. Reads the environment like
// main. At SIGUSR2 it collects garbage and prints the heap size. With KILL_AT="sync before 3" it ends itself with
// SIGKILL at that call of the spool's file port.
import { readdirSync, readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { systemClock } from "@holdpoint/base/clock.ts";
import { readConfig, listSecrets } from "@holdpoint/base/config/config.ts";
import { openKeyring } from "@holdpoint/base/config/encryption-keys.ts";
import { createLog } from "@holdpoint/base/log/log.ts";
import { createCollector } from "@holdpoint/collector/service/collector.ts";
import { openBackend } from "@holdpoint/collector/service/open-collector.ts";
import { nodeFiles } from "@holdpoint/collector/spool/disk/file-port.ts";
import { collectorSettings } from "@holdpoint/collector/service/settings.ts";
import { readTestLimits } from "./collector-limits.ts";
import { killingFiles } from "./files.ts";

const config = {
  ...readTestLimits(process.env),
  ...readConfig(process.env, collectorSettings, (path) => readFileSync(path, "utf8")),
};
const log = createLog({
  level: "info",
  json: true,
  secrets: listSecrets(collectorSettings, config),
  now: systemClock.now,
  write: (line) => void process.stderr.write(line),
});
const killAt = process.env["KILL_AT"];
const collector = createCollector(config, {
  backend: openBackend(config),
  clock: systemClock,
  log,
  files: killAt === undefined ? nodeFiles : killingFiles(nodeFiles, killAt),
  random: Math.random,
  ring: await openKeyring(config),
});
await collector.start();
process.stdout.write(`${JSON.stringify(collector.address())}\n`);
const stop = (): void => {
  void collector.stop().then(() => process.exit(collector.lost() > 0 ? 1 : 0));
};
process.once("SIGTERM", stop);
process.once("SIGINT", stop);
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;
process.on("SIGUSR2", () => {
  collectGarbage();
  const { heapUsed, external, rss } = process.memoryUsage();
  const fds = process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0;
  process.stdout.write(`${JSON.stringify({ heapBytes: heapUsed + external, rssBytes: rss, fds })}\n`);
});
