// UI components: the components of `ui` in langgraph.json → bundles for browsers. The project's official bundler builds
// them, and again after a source changes.
import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { describeError } from "@holdpoint/base/api-error.ts";
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { UiConfig } from "../config/ui-section.ts";

interface UiFile {
  readonly basename: string;
  readonly contents: Uint8Array;
}

/** The files of a component, empty while its build fails; null for an unknown name. */
export type UiBundles = (name: string) => Promise<readonly UiFile[] | null>;

interface Bundler {
  watch(options: {
    readonly defs: UiConfig["components"];
    readonly cwd: string;
    readonly config: { readonly shared: readonly string[] };
    readonly onOutput: (name: string, files: readonly UiFile[]) => void;
  }): Promise<void>;
}

export class UiError extends Error {
  constructor(reason: string) {
    super(`ui: ${reason}`);
    this.name = "UiError";
  }
}

/** Longest wait of a request for the first build of a bundle. */
const FIRST_BUILD_MS = 10_000;
const PACKAGE = "@langchain/langgraph-ui";
/** A project may have it through the reference server only. */
const HOLDERS = [[], ["@langchain/langgraph-api"], ["@langchain/langgraph-cli", "@langchain/langgraph-api"]];

/** @throws {UiError} if the bundler is missing or fails */
export async function buildUi(
  { components, shared }: UiConfig,
  folder: string,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<UiBundles> {
  const built = new Map<string, readonly UiFile[]>();
  const first = new Map(Object.keys(components).map((name) => [name, Promise.withResolvers<void>()]));
  const bundler = await loadBundler(folder);
  try {
    await bundler.watch({
      defs: components,
      cwd: folder,
      config: { shared },
      onOutput(name, files) {
        built.set(name, files);
        first.get(name)?.resolve();
        log.info("ui_built", { ui: name, files: files.map(({ basename }) => basename) });
      },
    });
  } catch (error) {
    throw new UiError(describeError(error).message);
  }
  return async (name) => {
    const ready = first.get(name);
    if (ready === undefined) return null;
    const late = Promise.withResolvers<void>();
    const cancel = clock.after(FIRST_BUILD_MS, late.resolve);
    await Promise.race([ready.promise, late.promise]);
    cancel();
    return built.get(name) ?? [];
  };
}

async function loadBundler(folder: string): Promise<Bundler> {
  for (const holders of HOLDERS) {
    const manifest = findThrough([...holders, PACKAGE], folder);
    if (manifest === null) continue;
    const { main = "index.js" } = JSON.parse(readFileSync(manifest, "utf8")) as { readonly main?: string };
    return (await import(pathToFileURL(join(dirname(manifest), main)).href)) as Bundler;
  }
  throw new UiError(`the bundler is not installed: run npm install ${PACKAGE}, or remove "ui" from langgraph.json`);
}

/** The package.json of the last package; each one resolves from the one before. */
function findThrough(names: readonly string[], folder: string): string | null {
  let from = join(folder, "noop.js");
  for (const name of names) {
    const found = packageFile(name, from);
    if (found === null) return null;
    from = found;
  }
  return from;
}

function packageFile(name: string, from: string): string | null {
  try {
    return findPackageJSON(name, pathToFileURL(from)) ?? null;
  } catch {
    return null;
  }
}
