// Type reader: the TypeScript types of the deployed graphs' states. It reads them on demand, in a separate process
// (type-extractor.ts), once for all graphs, and again after one of their files changed.
// Invariants:
//   type-reader.1. No type check runs longer than the time limit, and at most one at a time.
//   type-reader.2. Unreadable types are not an error: the result is null, and the log has the reason. After a timeout
//        on a busy machine the next check waits for AGAIN_MS.
import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { GraphsConfig } from "../config/langgraph-json.ts";
import type { ExtractorRequest } from "./type-extractor.ts";
import type { TypeSchemas } from "./type-schemas.ts";

export interface TypeReader {
  /** Null if the types declare nothing or are unreadable. */
  read(graphId: string): Promise<TypeSchemas | null>;
}

type Found = Readonly<Record<string, TypeSchemas | null>>;

const EXTRACTOR = fileURLToPath(new URL(`./type-extractor${extname(import.meta.url)}`, import.meta.url));
const TYPED_FILE = /\.[cm]?tsx?$/;
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;
const HEAP_MEBIBYTES_MAX = 2048;
const AGAIN_MS = 5 * 60_000;

/** @param timeoutMs 0 disables types */
export function createTypeReader(
  config: Pick<GraphsConfig, "folder" | "graphs">,
  timeoutMs: number,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): TypeReader {
  const graphs = config.graphs.filter(({ file }) => TYPED_FILE.test(file));
  const request: ExtractorRequest = { folder: config.folder, graphs, deadlineMs: timeoutMs };
  let current: { readonly times: string; readonly found: Promise<Found> } | null = null;
  let againAt = Infinity;
  const find = async (): Promise<Found> => {
    try {
      return await extract(request);
    } catch (error) {
      log.warning("schema_types_unavailable", { reason: formatReason(error) }); // type-reader.2
      againAt = clock.monotonic() + AGAIN_MS;
      return {};
    }
  };
  return {
    async read(graphId) {
      if (timeoutMs === 0 || !graphs.some((graph) => graph.graphId === graphId)) return null;
      const times = await fileTimes(graphs.map(({ file }) => file));
      if (current?.times !== times || clock.monotonic() >= againAt) {
        againAt = Infinity;
        const before = current?.found ?? Promise.resolve({});
        current = { times, found: before.then(find) }; // type-reader.1
      }
      return (await current.found)[graphId] ?? null;
    },
  };
}

async function fileTimes(files: readonly string[]): Promise<string> {
  const times = await Promise.all(
    files.map((file) =>
      stat(file).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  );
  return times.join(" ");
}

function extract(request: ExtractorRequest): Promise<Found> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      [`--max-old-space-size=${HEAP_MEBIBYTES_MAX}`, EXTRACTOR],
      {
        cwd: request.folder,
        env: {}, // it needs none of the server's secrets
        timeout: request.deadlineMs, // type-reader.1
        killSignal: "SIGKILL",
        maxBuffer: OUTPUT_BYTES_MAX,
      },
      (error, output) => {
        if (error !== null) return reject(error);
        try {
          resolve(JSON.parse(output) as Found);
        } catch {
          reject(new Error("the type checker printed no result"));
        }
      },
    );
    child.stdin?.on("error", () => undefined); // it may end before it has read all
    child.stdin?.end(JSON.stringify(request));
  });
}

function formatReason(error: unknown): string {
  const { killed, message } = error as { readonly killed?: boolean; readonly message: string };
  return killed === true ? "the type check took too long" : message.slice(0, 1000);
}
