// Prices: what a million tokens of a model cost, from PRICES_FILE, read and checked at start.
// Invariant: a cost that a sender reports counts as it is; the table is for calls without one.
import { z } from "zod";
import { readOperatorFile } from "../shared/operator-file.ts";
import { matchesGlob } from "../redact/path-pattern.ts";

const MODELS_MAX = 10_000;
const NAME_CHARS_MAX = 200;
const TOKENS_A_PRICE = 1_000_000;

const price = z.number().min(0).max(1_000_000);

const PricesSchema = z
  .record(
    z.string().min(1).max(NAME_CHARS_MAX),
    z.strictObject({
      input: price,
      output: price.default(0),
      cache_read: price.optional(),
      cache_creation: price.optional(),
    }),
  )
  .refine((all) => Object.keys(all).length <= MODELS_MAX, { error: `has more than ${MODELS_MAX} models` });

type Price = z.infer<typeof PricesSchema>[string];

/** Tokens of one call. Cached ones are among those of the input. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheCreation: number;
}

export interface Prices {
  /** US dollars; null for a model that the table lacks. */
  readonly cost: (model: string, tokens: Tokens) => number | null;
}

const KNOWN_MAX = 10_000;

/** @param path PRICES_FILE; null for none. @throws {ConfigError} */
export function readPrices(path: string | null): Prices {
  const table = path === null ? {} : readOperatorFile("PRICES_FILE", path, PricesSchema);
  const exact = new Map(Object.entries(table));
  const patterns = [...exact].filter(([name]) => name.includes("*"));
  /** Models that only a pattern names, or nothing. */
  const known = new Map<string, Price | null>();
  const find = (model: string): Price | null => {
    const own = exact.get(model) ?? known.get(model);
    if (own !== undefined || patterns.length === 0 || model.length > NAME_CHARS_MAX) return own ?? null;
    const found = patterns.find(([pattern]) => matchesGlob(pattern, model))?.[1] ?? null;
    if (known.size < KNOWN_MAX) known.set(model, found);
    return found;
  };
  return {
    cost(model, tokens) {
      const found = find(model);
      return found === null ? null : costAt(found, tokens);
    },
  };
}

function costAt({ cache_creation: created, cache_read: read, input, output }: Price, tokens: Tokens): number {
  const plain = Math.max(0, tokens.input - tokens.cacheRead - tokens.cacheCreation);
  const sum =
    plain * input +
    tokens.cacheRead * (read ?? input) +
    tokens.cacheCreation * (created ?? input) +
    tokens.output * output;
  return sum / TOKENS_A_PRICE;
}
