// JSON card: a titled card with one JSON value.
import type { ReactNode } from "react";
import { JsonView } from "./json-view.tsx";

export function JsonCard({
  title,
  value,
  label = `the ${title.toLowerCase()}`,
  openLevels,
}: {
  readonly title: string;
  readonly value: unknown;
  /** For screen readers. */
  readonly label?: string;
  readonly openLevels?: number;
}): ReactNode {
  return (
    <section className="card state-card">
      <h3>{title}</h3>
      <JsonView value={value} label={label} {...(openLevels === undefined ? {} : { openLevels })} />
    </section>
  );
}
