// Vectors: the answer of an embedding, in any form, with the number and the length of its vectors in their place.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { isObject, jsonWithin } from "../attributes/plain-values.ts";

const VECTOR_MIN = 4;
const LEVELS_MAX = 6;

interface Vectors {
  count: number;
  dimensions: number;
}

/** null: the answer has no vectors. */
export function countVectors(answer: JsonObject): JsonObject | null {
  const vectors: Vectors = { count: 0, dimensions: 0 };
  const rest = withoutVectors(answer, vectors, LEVELS_MAX);
  if (vectors.count === 0) return null;
  const { embeddings: _embeddings, ...beside } = isObject(rest) ? rest : {};
  return { ...beside, embeddings: { ...vectors } };
}

/** A list of numbers, or its JSON text; null for everything else. */
export function countVector(value: Json): JsonObject | null {
  const list = jsonWithin(value);
  return isVector(list) ? { count: 1, dimensions: list.length } : null;
}

function isVector(value: Json): value is readonly number[] {
  return Array.isArray(value) && value.length >= VECTOR_MIN && value.every((one) => typeof one === "number");
}

/** undefined: nothing but vectors. */
function withoutVectors(value: Json, vectors: Vectors, levels: number): Json | undefined {
  if (levels === 0 || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const list = value as readonly Json[];
    if (isVector(list)) {
      vectors.count += 1;
      vectors.dimensions = list.length;
      return undefined;
    }
    const before = vectors.count;
    const rest = list.flatMap((one) => withoutVectors(one, vectors, levels - 1) ?? []);
    return vectors.count - before === list.length && list.length > 0 ? undefined : rest;
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]): readonly (readonly [string, Json])[] => {
      const rest = withoutVectors(one, vectors, levels - 1);
      return rest === undefined ? [] : [[name, rest]];
    }),
  );
}
