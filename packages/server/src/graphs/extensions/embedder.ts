// Embedder: the embedding function of the deployment, for the store.
// Invariants:
//   embedder.1. The result is one vector per text with the configured number of finite numbers, or an error that names
//        the problem.
//   embedder.2. A function that fails to load stops the server, with file and export.
import type { Embedder } from "../../ports/ports.ts";
import { describeError } from "@holdpoint/base/api-error.ts";
import { importExport } from "../loading/import-user-module.ts";
import type { StoreIndexConfig } from "../config/store-section.ts";

type Embed = (texts: string[], as: "item" | "query") => Promise<unknown>;

/** @throws {Error} embedder.2 */
export async function loadEmbedder({ embed, dims }: StoreIndexConfig, folder: string): Promise<Embedder> {
  const { file, exportName } = embed;
  const call = await importExport(embed, folder).then(
    (exported) => callable(exported),
    (error: unknown) => {
      throw new Error(
        `store.index.embed (${file}, export ${exportName}) does not load: ${describeError(error).message}`,
      );
    },
  );
  if (call === null) {
    const form = "neither a function (texts: string[]) => Promise<number[][]> nor a LangChain Embeddings object";
    throw new Error(`store.index.embed (${file}, export ${exportName}) is ${form}`);
  }
  return {
    dims,
    async embed(texts, as) {
      const vectors = await call([...texts], as);
      if (!Array.isArray(vectors) || vectors.length !== texts.length) {
        throw new Error(
          `it returned ${Array.isArray(vectors) ? vectors.length : "no list of"} vectors for ${texts.length} texts`,
        );
      }
      return (vectors as readonly unknown[]).map((vector) => toVector(vector, dims)); // embedder.1
    },
  };
}

function callable(exported: unknown): Embed | null {
  if (typeof exported === "function") return async (texts) => (exported as (texts: string[]) => unknown)(texts);
  if (typeof exported !== "object" || exported === null) return null;
  const model = exported as Partial<Embeddings>;
  if (typeof model.embedDocuments !== "function" || typeof model.embedQuery !== "function") return null;
  const { embedDocuments, embedQuery } = model;
  return (texts, as) =>
    as === "item" ? embedDocuments.call(model, texts) : Promise.all(texts.map((text) => embedQuery.call(model, text)));
}

/** The part of LangChain's class in use. */
interface Embeddings {
  readonly embedDocuments: (texts: string[]) => Promise<unknown>;
  readonly embedQuery: (text: string) => Promise<unknown>;
}

function toVector(vector: unknown, dims: number): Float32Array {
  const numbers =
    ArrayBuffer.isView(vector) || Array.isArray(vector) ? Float32Array.from(vector as ArrayLike<number>) : null;
  if (numbers === null) throw new Error("a vector is not a list of numbers");
  if (numbers.length !== dims)
    throw new Error(`a vector has ${numbers.length} numbers, and store.index.dims is ${dims}`);
  if (!numbers.every(Number.isFinite)) throw new Error("a vector contains a value that is not a number");
  return numbers;
}
