// Check context: a run whose context does not match the schema of its graph is refused before it is accepted. Otherwise
// it would take an answer along, and fail before any node gets it.
import type { Run } from "../../model/model.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { Library } from "../langgraph/library.ts";
import type { Deployed } from "./graph-factory.ts";
import { runConfigurable } from "../run/run-config.ts";

/** Faults in the detail of a refusal. */
const FAULTS_MAX = 5;

/**
 * The library checks only schemas of Zod, and `configurable` where a run has no context. The graph of a factory depends
 * on the run: there the run itself fails.
 * @throws {ApiError} `context_invalid`
 */
export function checkContext(library: Library, deployed: Deployed | undefined, run: Run): void {
  const schema = deployed?.factory === null ? deployed.graph.builder?._configRuntimeSchema : undefined;
  if (!library.types.isInteropZodObject(schema)) return;
  const { context } = run.request;
  const errors = findFaults(library, schema, context ?? runConfigurable(run, library));
  if (errors.length === 0) return;
  const texts = errors.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  const detail = `The context does not match the context schema of ${run.graphId}: ${texts.join("; ")}.`;
  throw new ApiError("context_invalid", detail, { errors });
}

interface Fault {
  readonly path: string;
  readonly message: string;
}

function findFaults(
  { types }: Library,
  schema: Parameters<Library["types"]["interopSafeParse"]>[0],
  value: unknown,
): readonly Fault[] {
  let parsed: ReturnType<typeof types.interopSafeParse>;
  try {
    parsed = types.interopSafeParse(schema, value);
  } catch {
    return []; // an asynchronous check: the run itself decides
  }
  if (parsed.success) return [];
  const { issues } = parsed.error as unknown as {
    readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
  };
  return issues.slice(0, FAULTS_MAX).map(({ path, message }) => ({ path: path.map(String).join("."), message }));
}
