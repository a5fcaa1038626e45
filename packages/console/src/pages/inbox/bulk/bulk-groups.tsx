// Bulk groups: the items of a bulk decision by graph and action, each with its arguments, in one line where they fit.
import type { ReactNode } from "react";
import { buildKey } from "../../../data/inbox/item.ts";
import { glance } from "../../../json/excerpt.ts";
import { ValueTable } from "../../../json/value-table.tsx";
import { readDirection } from "../../../text/direction.ts";
import { useFold } from "../../../text/folds.tsx";
import { Visible } from "../../../text/visible.tsx";
import { DangerChip } from "../../../ui/controls.tsx";
import type { Group, Planned } from "./bulk.ts";

/** What fits beside a title. */
const LINE_UNITS = 160;

export function BulkGroups({ groups }: { readonly groups: readonly Group[] }): ReactNode {
  return groups.map(({ graph, what, planned }) => (
    <section
      key={`${graph} ${what} ${planned[0] === undefined ? "" : buildKey(planned[0].item)}`}
      aria-label={`${what} of ${graph}`}
    >
      <h3 className="row">
        <code>{what}</code>
        <span className="muted">
          {graph} · {planned.length}
        </span>
      </h3>
      <ol className="bulk-items">
        {planned.map((one) => (
          <Entry key={buildKey(one.item)} planned={one} />
        ))}
      </ol>
    </section>
  ));
}

function Entry({ planned: { item, args } }: { readonly planned: Planned }): ReactNode {
  const text = args === "" ? "" : glance(args, LINE_UNITS + 1);
  const { isFolded, open, place } = useFold<HTMLLIElement>(text.length > LINE_UNITS);
  return (
    <li ref={place} tabIndex={-1}>
      <span className="row">
        {item.dangerous ? <DangerChip /> : null}
        <span dir={readDirection(item.title)}>{item.title}</span>
      </span>
      {text.length <= LINE_UNITS ? (
        <code className="muted">
          <Visible text={text} />
        </code>
      ) : isFolded ? (
        <button type="button" className="fold-button" onClick={open}>
          Show the arguments
        </button>
      ) : (
        <ValueTable value={args} label={`Arguments of ${item.title}`} />
      )}
    </li>
  );
}
