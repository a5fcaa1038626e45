// Metadata filter: choices of keys and values with their counts, and a text for everything else.
import { useState, type ReactNode } from "react";
import type { InboxFacets } from "@holdpoint/api/items/inbox-facets.ts";
import { glance } from "../../../json/excerpt.ts";
import type { Json } from "../../../json/json.ts";
import { Field } from "../../../ui/controls.tsx";
import { isWritable, withPair } from "./filters.ts";

const VALUE_UNITS_MAX = 60;

/** A text as it is; `""` and other values as JSON. */
function shown(value: Json): string {
  return typeof value === "string" && value !== "" ? value.slice(0, VALUE_UNITS_MAX) : glance(value);
}

export function MetadataFilter({
  value,
  facets,
  onChange,
}: {
  readonly value: string;
  readonly facets: NonNullable<InboxFacets["metadata"]>;
  readonly onChange: (value: string) => void;
}): ReactNode {
  const [typed, setTyped] = useState<string | null>(null);
  const finish = (): void => {
    if (typed !== null && typed !== value) onChange(typed);
    setTyped(null);
  };
  const groups = facets.flatMap(({ key, values }) => {
    const writable = values.filter((one) => isWritable(key, one.value));
    return writable.length === 0 ? [] : [{ key, values: writable }];
  });
  const choose = (place: string): void => {
    const [group, at] = place.split("/").map(Number);
    const chosen = groups[group ?? -1];
    const pair = chosen?.values[at ?? -1];
    if (chosen !== undefined && pair !== undefined) onChange(withPair(value, chosen.key, pair.value));
  };
  return (
    <>
      <Field label="Metadata">
        <select value="" onChange={(event) => choose(event.target.value)}>
          <option value="">{value === "" ? "Any metadata" : "Add or change"}</option>
          {groups.map(({ key, values }, group) => (
            <optgroup key={key} label={key}>
              {values.map((one, at) => (
                <option key={JSON.stringify(one.value)} value={`${group}/${at}`}>
                  {`${shown(one.value)} (${one.count})`}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </Field>
      <Field label="Metadata as text">
        <input
          value={typed ?? value}
          placeholder="key=value"
          onChange={(event) => setTyped(event.target.value)}
          onBlur={finish}
          onKeyDown={(event) => event.key === "Enter" && finish()}
        />
      </Field>
    </>
  );
}
