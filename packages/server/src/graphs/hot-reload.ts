// Hot reload: a file of the project changes → its graphs load again and replace the old ones. For `dev`.
// Invariants:
//   - A graph that fails to load changes nothing: the old one stays, and each change logs the reason once.
//   - A run in progress ends in its first code; paused threads continue in the new code.
//   - A change counts if a file's content differs; changes during a reload are not missed.
//   - A change that needs a restart is logged and has no effect; so is an unknown key.
import { hash } from "node:crypto";
import { readFileSync, watch, type FSWatcher } from "node:fs";
import { dirname } from "node:path";
import type { Clock } from "@holdpoint/base/clock.ts";
import { describeError } from "@holdpoint/base/api-error.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { GraphsConfig, GraphSource } from "./config/langgraph-json.ts";
import type { FreshModules } from "./loading/module-reload.ts";
import type { DeployedGraphs } from "./graphs.ts";

export interface HotReloadPorts {
  readonly modules: FreshModules;
  readonly graphs: Pick<DeployedGraphs, "deploy">;
  /** Reads the configuration file again. @throws {ConfigFileError} */
  readonly readConfig: () => GraphsConfig;
  /** Called after graphs were replaced: new ones may need assistants. */
  readonly onReloaded: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Editors write a file in several steps. */
const QUIET_MS = 80;
const FOLDERS_MAX = 500;

interface Reloader {
  /** The configuration file, watched like those of the graphs. */
  readonly file: string;
  readonly config: GraphsConfig;
  readonly ports: HotReloadPorts;
  /** Folder → its watcher. */
  readonly watchers: Map<string, FSWatcher>;
  /** File → hash of its content. */
  readonly contents: Map<string, string>;
  sources: readonly GraphSource[];
  /** Already logged. */
  remarks: ReadonlySet<string>;
  cancelCheck: () => void;
  checking: Promise<void> | null;
  stopped: boolean;
}

/** @param file the configuration file */
export function createHotReload(file: string, config: GraphsConfig, ports: HotReloadPorts): Service {
  const reloader: Reloader = {
    file,
    config,
    ports,
    watchers: new Map(),
    contents: new Map(),
    sources: config.graphs,
    remarks: new Set(config.remarks),
    cancelCheck: () => undefined,
    checking: null,
    stopped: false,
  };
  return {
    name: "hot reload",
    async start() {
      watchFolders(reloader);
    },
    async stop() {
      reloader.stopped = true;
      reloader.cancelCheck();
      for (const watcher of reloader.watchers.values()) watcher.close();
      await reloader.checking;
    },
  };
}

/** Folders, not files: an editor that writes a new file and renames it removes the file from its watcher. */
function watchFolders(reloader: Reloader): void {
  const { watchers } = reloader;
  changedFiles(reloader); // new ones have a known content from now on
  for (const folder of new Set(watchedFiles(reloader).map(dirname))) {
    if (watchers.has(folder) || watchers.size >= FOLDERS_MAX) continue;
    try {
      const watcher = watch(folder, () => scheduleCheck(reloader));
      watcher.on("error", () => watchers.delete(folder));
      watchers.set(folder, watcher);
    } catch {
      // it does not exist (yet)
    }
  }
}

function scheduleCheck(reloader: Reloader): void {
  reloader.cancelCheck();
  reloader.cancelCheck = reloader.ports.clock.after(QUIET_MS, () => {
    reloader.checking = (reloader.checking ?? Promise.resolve()).then(() => check(reloader));
  });
}

async function check(reloader: Reloader): Promise<void> {
  try {
    while (!reloader.stopped && changedFiles(reloader).length > 0) await reload(reloader);
  } catch (error) {
    reloader.ports.log.error("reload_failed", { reason: describeError(error).message });
  }
  if (!reloader.stopped) watchFolders(reloader);
}

function watchedFiles({ file, ports }: Reloader): readonly string[] {
  return [file, ...ports.modules.files()];
}

function changedFiles(reloader: Reloader): readonly string[] {
  return watchedFiles(reloader).filter((path) => {
    const before = reloader.contents.get(path);
    const now = hashContent(path);
    reloader.contents.set(path, now);
    return before !== undefined && before !== now;
  });
}

async function reload(reloader: Reloader): Promise<void> {
  const { modules, graphs, clock, log, onReloaded } = reloader.ports;
  const begunAt = clock.monotonic();
  const next = readSources(reloader);
  modules.renew();
  const failed = new Map<string, string[]>();
  const names: string[] = [];
  for (const source of next) {
    try {
      await graphs.deploy(source);
      names.push(source.graphId);
    } catch (error) {
      const reason = describeError(error).message;
      failed.set(reason, [...(failed.get(reason) ?? []), source.graphId]);
    }
  }
  reloader.sources = next;
  for (const [reason, ids] of failed) log.error("graph_not_reloaded", { graphs: ids, reason });
  if (names.length === 0) return;
  await onReloaded();
  log.info("graphs_reloaded", { graphs: names, duration_ms: Math.round(clock.monotonic() - begunAt) });
}

/** The graphs of the configuration file as it is now; the previous ones if it is unreadable. */
function readSources(reloader: Reloader): readonly GraphSource[] {
  const { file, config, ports, sources, remarks } = reloader;
  const { log, readConfig } = ports;
  try {
    const next = readConfig();
    const gone = sources.filter(({ graphId }) => next.graphs.every((one) => one.graphId !== graphId));
    const fixed = (one: GraphsConfig): string => JSON.stringify({ ...one, graphs: [], remarks: [] });
    const others = fixed(next) !== fixed(config);
    for (const remark of next.remarks) if (!remarks.has(remark)) log.warning("config_key_ignored", { file, remark });
    reloader.remarks = new Set(next.remarks);
    if (gone.length > 0 || others) log.warning("restart_needed", { file, removed: gone.map((one) => one.graphId) });
    return [...next.graphs, ...gone];
  } catch (error) {
    log.error("config_not_reloaded", { reason: describeError(error).message });
    return sources;
  }
}

function hashContent(path: string): string {
  try {
    return hash("sha256", readFileSync(path));
  } catch {
    return "";
  }
}
