// Page build: locates the built files of a page. A package contains them; a clone builds them on first use, in a
// separate process, and rebuilds only after a change of the sources.
// Invariants:
//   page-build.1. A served build matches the current sources, unless no sources exist.
//   page-build.2. An interrupted build leaves nothing that looks complete.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, relative, sep } from "node:path";
import { ApiError } from "../../api-error.ts";
import type { Log } from "../../log/log.ts";

export interface PageSources {
  /** Folder of the sources; absent in a package. */
  readonly sources: string;
  /** Other files and folders that the result depends on, such as the lock file. */
  readonly besides: readonly string[];
  /** Location of the result in a package. */
  readonly shipped: string;
  /** Folder of cached results, one subfolder each. */
  readonly cache: string;
  /** Node runs it with the target folder as its argument. */
  readonly builder: string;
}

/** In a cached result: the hash of its sources. */
const SOURCES_HASH_FILE = "sources.sha256";
const BUILD_TIMEOUT_MS = 120_000;
const OUTPUT_BYTES_MAX = 1024 * 1024;
const RESULTS_KEPT = 3;

/** Builds once for all concurrent callers; after a failure the next call tries again. */
export function createPageBuild(page: PageSources, log: Log): () => Promise<string> {
  let building: Promise<string> | null = null;
  return () => {
    building ??= findOrBuild(page, log).catch((error: unknown) => {
      building = null;
      const reason = error instanceof Error ? error.message : String(error);
      log.error("page_build_failed", { builder: page.builder, reason });
      const detail = "The page build failed; the server log has the reason. `npm run build` builds it in advance.";
      throw new ApiError("page_unavailable", detail);
    });
    return building;
  };
}

async function findOrBuild(page: PageSources, log: Log): Promise<string> {
  const hash = sourcesHash(page);
  if (hash === null) return page.shipped;
  const kept = join(page.cache, hash.slice(0, 16));
  if (readHash(kept) === hash) return kept; // page-build.1
  log.info("page_building", { sources: page.sources });
  mkdirSync(page.cache, { recursive: true });
  const made = mkdtempSync(join(page.cache, ".making-"));
  try {
    await runBuilder(page.builder, made);
    if (sourcesHash(page) !== hash) throw new Error("the sources changed during the build");
    writeFileSync(join(made, SOURCES_HASH_FILE), `${hash}\n`);
    rmSync(kept, { recursive: true, force: true });
    moveFolder(made, kept); // page-build.2
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  forgetOld(page.cache, kept);
  log.info("page_built", { folder: kept });
  return kept;
}

/** Another process may have stored the same result meanwhile: that one is equivalent. */
function moveFolder(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!existsSync(join(to, SOURCES_HASH_FILE))) throw error;
  }
}

function forgetOld(cache: string, newest: string): void {
  const results = readdirSync(cache, { withFileTypes: true }).filter((entry) => /^[0-9a-f]{16}$/.test(entry.name));
  const paths = results.map(({ name }) => join(cache, name)).filter((path) => path !== newest);
  for (const path of paths.slice(0, Math.max(0, paths.length + 1 - RESULTS_KEPT))) {
    rmSync(path, { recursive: true, force: true });
  }
}

function readHash(folder: string): string | null {
  try {
    return readFileSync(join(folder, SOURCES_HASH_FILE), "utf8").trim();
  } catch {
    return null;
  }
}

const TEST_FILE = /\.test\.tsx?$/;

/** Null without sources. */
function sourcesHash({ sources, besides }: Pick<PageSources, "sources" | "besides">): string | null {
  if (!existsSync(sources)) return null;
  const hash = createHash("sha256");
  for (const path of [sources, ...besides].filter((one) => existsSync(one)).flatMap(filesAt)) {
    const bytes = readFileSync(path);
    hash.update(`${relative(sources, path).split(sep).join("/")}\n${bytes.length}\n`).update(bytes);
  }
  return hash.digest("hex");
}

/** The file itself, or the files below a folder, without tests. */
function filesAt(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !TEST_FILE.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function runBuilder(builder: string, folder: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { timeout: BUILD_TIMEOUT_MS, maxBuffer: OUTPUT_BYTES_MAX };
    execFile(process.execPath, [builder, folder], options, (error, _output, errors) => {
      if (error === null) resolve();
      else reject(new Error(errors.trim() === "" ? error.message : errors.trim().slice(-4000)));
    });
  });
}
