// JSON finder: a search field for the names and values inside one JSON value.
import { type ReactNode, useState } from "react";
import { type FoundPath, pathsIn } from "./json-search.ts";

export interface JsonFinder {
  readonly input: ReactNode;
  /** Null without a search. */
  readonly found: readonly FoundPath[] | null;
}

export function useJsonFinder(
  value: unknown,
  { label, placeholder, most }: { readonly label: string; readonly placeholder: string; readonly most: number },
): JsonFinder {
  const [wanted, setWanted] = useState("");
  return {
    found: wanted.trim() === "" ? null : pathsIn(value, wanted.trim(), most),
    input: (
      <input
        type="search"
        aria-label={label}
        placeholder={placeholder}
        value={wanted}
        onChange={(event) => setWanted(event.target.value)}
      />
    ),
  };
}
