// Page build: finds the built files of a page. A package has them; a clone builds them the first time they are needed,
// in a process of its own, and again only when the sources have changed.
// Invariants:
//   PB1. What is given out was built from the sources that are there, or there are no sources.
//   PB2. A build that is cut short leaves nothing that could be taken for a whole one.
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
import { ApiError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";

export interface PageSources {
  /** Of the sources; missing in a package. */
  readonly sources: string;
  /** Other files and folders that the result depends on, such as the lock file. */
  readonly besides: readonly string[];
  /** Where a package has the result. */
  readonly shipped: string;
  /** Where results are kept, one folder each. */
  readonly cache: string;
  /** Run by Node with the folder for the result as its argument. */
  readonly builder: string;
}

/** In a kept result: the hash of its sources. */
const SOURCES_HASH_FILE = "sources.sha256";
const BUILD_TIMEOUT_MS = 120_000;
const OUTPUT_BYTES_MAX = 1024 * 1024;
const RESULTS_KEPT = 3;

/** Builds once, however many ask at the same time; after a failure the next who asks tries again. */
export function createPageBuild(page: PageSources, log: Log): () => Promise<string> {
  let building: Promise<string> | null = null;
  return () => {
    building ??= findOrBuild(page, log).catch((error: unknown) => {
      building = null;
      const reason = error instanceof Error ? error.message : String(error);
      log.error("page_build_failed", { builder: page.builder, reason });
      const detail = "The page could not be built; the server's log says why. `npm run build` builds it ahead.";
      throw new ApiError("page_unavailable", detail);
    });
    return building;
  };
}

async function findOrBuild(page: PageSources, log: Log): Promise<string> {
  const hash = sourcesHash(page);
  if (hash === null) return page.shipped;
  const kept = join(page.cache, hash.slice(0, 16));
  if (hashOf(kept) === hash) return kept; // PB1
  log.info("page_building", { sources: page.sources });
  mkdirSync(page.cache, { recursive: true });
  const made = mkdtempSync(join(page.cache, ".making-"));
  try {
    await runBuilder(page.builder, made);
    if (sourcesHash(page) !== hash) throw new Error("the sources changed while they were built");
    writeFileSync(join(made, SOURCES_HASH_FILE), `${hash}\n`);
    rmSync(kept, { recursive: true, force: true });
    moveFolder(made, kept); // PB2
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  forgetOld(page.cache, kept);
  log.info("page_built", { folder: kept });
  return kept;
}

/** Another process may have put the same result there meanwhile: then that one is as good. */
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

function hashOf(folder: string): string | null {
  try {
    return readFileSync(join(folder, SOURCES_HASH_FILE), "utf8").trim();
  } catch {
    return null;
  }
}

const TEST_FILE = /\.test\.tsx?$/;

/** Null when there are no sources. */
function sourcesHash({ sources, besides }: Pick<PageSources, "sources" | "besides">): string | null {
  if (!existsSync(sources)) return null;
  const hash = createHash("sha256");
  for (const path of [sources, ...besides].filter((one) => existsSync(one)).flatMap(filesAt)) {
    const bytes = readFileSync(path);
    hash.update(`${relative(sources, path).split(sep).join("/")}\n${bytes.length}\n`).update(bytes);
  }
  return hash.digest("hex");
}

/** The file itself, or the files below a folder, tests left out. */
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
