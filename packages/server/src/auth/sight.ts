// Sight: what a call may see of the answers that it reads.
// Invariant: secrets of answers are for callers that may answer: on all objects that the call may read, and only
// as far as the handlers of the deployment say so. They are asked once, and only where a schema marks a secret.
import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { hasMark, maskSecrets, showAll, type Show } from "../model/payload/mask-secrets.ts";
import type { Scope } from "../model/model.ts";
import type { Ask } from "./authorize.ts";
import { toAccessValue } from "./handler-value.ts";

/** @param schemas of the answers; null if any answer fits */
export type Sight = (schemas: Iterable<JsonObject | null>) => Promise<Show>;

export interface Reading {
  readonly ids: Readonly<Record<string, string>>;
  /** Scope of the objects that the call reads. */
  readonly scope: Scope;
  readonly ask: Ask;
}

export function createSight({ ids, scope, ask }: Reading): Sight {
  const mayAnswer = async (): Promise<boolean> => {
    try {
      const own = await ask("threads:answer", toAccessValue("threads:answer", { ids, query: {}, body: {} }));
      return own === null || isDeepStrictEqual(own, scope);
    } catch {
      return false;
    }
  };
  let asked: Promise<boolean> | null = null;
  return async (schemas) => {
    const isMarked = [...schemas].some((schema) => schema !== null && hasMark(schema));
    return !isMarked || (await (asked ??= mayAnswer())) ? showAll : maskSecrets;
  };
}
