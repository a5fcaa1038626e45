// Merge schemas: a graph's schemas at run time, with its types where those are silent.
// Invariants:
//   merge-schemas.1. Run-time facts stay: types never add a field to a state, nor change a declared one.
//   merge-schemas.2. Types are read only if something is missing.
import type { GraphSchemas } from "../../ports/ports.ts";
import { isJsonObject, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { TypeSchemas } from "./type-schemas.ts";

/** @param types called at most once */
export async function completeSchemas(
  known: GraphSchemas,
  types: () => Promise<TypeSchemas | null>,
): Promise<GraphSchemas> {
  const { input, output, state, context } = known;
  if (![input, output, state].some(isIncomplete)) return known; // merge-schemas.2
  const extracted = await types();
  if (extracted === null) return known;
  return {
    input: complete(input, extracted.input),
    output: complete(output, extracted.output),
    state: complete(state, extracted.state),
    context: context ?? extracted.context,
  };
}

function complete(known: JsonObject, extracted: JsonObject | null): JsonObject {
  if (extracted === null) return known;
  const { properties } = known;
  if (!isJsonObject(properties)) return isSilent(known) ? extracted : known;
  const other = isJsonObject(extracted["properties"]) ? extracted["properties"] : {};
  const all = Object.entries(properties).map(([name, field]) => {
    const more = Object.hasOwn(other, name) ? other[name] : undefined;
    return [
      name,
      isVague(field) && isJsonObject(more) && !isSilent(more) ? { ...more, ...(field as JsonObject) } : field,
    ];
  });
  const definitions = extracted["definitions"] === undefined ? {} : { definitions: extracted["definitions"] };
  return { ...known, properties: Object.fromEntries(all) as JsonObject, ...definitions };
}

function isIncomplete(schema: JsonObject): boolean {
  const { properties } = schema;
  return isJsonObject(properties) ? Object.values(properties).some(isVague) : isSilent(schema);
}

const isSilent = (schema: JsonObject): boolean => Object.keys(schema).length === 0;

/** Empty, or only that it is a list. */
function isVague(field: unknown): boolean {
  if (!isJsonObject(field)) return false;
  return isSilent(field) || (field["type"] === "array" && Object.keys(field).length === 1);
}
