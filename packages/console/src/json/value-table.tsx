// Value table: a value for a person who decides by it: members as rows, nested ones inside of them, lists of equal objects
// as tables, pictures as pictures.
// Invariants:
//   - Nothing is left out without a count and a button: texts, rows of lists, members.
import type { ReactNode } from "react";
import { confusable } from "@holdpoint/api/text/visible-text.ts";
import { useFold } from "../text/folds.tsx";
import { LongText } from "../text/long-text.tsx";
import { isPicture } from "../text/picture.ts";
import { Doubt, Visible } from "../text/visible.tsx";
import { Chip, Key } from "../ui/controls.tsx";
import { isObject } from "./json.ts";

const DEPTH_MAX = 6;
const ROWS_SHOWN = 40;
const COLUMNS_MAX = 6;
const NAMES_COMPARED_MAX = 1000;
/** Beyond this, the texts of a table would not fit beside each other. */
const CELL_UNITS_MAX = 60;
const SHORT_UNITS = 12;

interface ValueProps {
  readonly value: unknown;
  readonly label: string;
  readonly depth?: number;
}

/** @param marked names of members with a mark beside them: changed ones */
export function ValueTable({
  value,
  label,
  depth = 0,
  marked = [],
}: ValueProps & { readonly marked?: readonly string[] }): ReactNode {
  const members = isObject(value) ? Object.entries(value) : [];
  const { isFolded, open, place } = useFold<HTMLDListElement>(members.length > ROWS_SHOWN);
  if (members.length === 0) return <Value value={value} label={label} depth={depth} />;
  const doubts = confusable(members.slice(0, NAMES_COMPARED_MAX).map(([name]) => name));
  return (
    <>
      <dl className={depth === 0 ? "value-table" : "value-table nested"} aria-label={label} ref={place} tabIndex={-1}>
        {members.slice(0, isFolded ? ROWS_SHOWN : members.length).map(([name, member]) => (
          <div key={name} className="value-row">
            <dt>
              <Visible text={name} />
              <Doubt reason={doubts.get(name)} />
              {marked.includes(name) ? <Chip tone="amber">changed</Chip> : null}
            </dt>
            <dd>
              <Value value={member} label={name} depth={depth} />
            </dd>
          </div>
        ))}
      </dl>
      {isFolded ? <More count={members.length} onOpen={open} /> : null}
    </>
  );
}

function Value({ value, label, depth = 0 }: ValueProps): ReactNode {
  if (typeof value === "string") {
    if (!isPicture(value)) return <LongText text={value} />;
    return (
      <>
        <img className="message-image" src={value} alt={label} />
        {value.startsWith("data:") ? null : <LongText text={value} />}
      </>
    );
  }
  if (typeof value !== "object" || value === null)
    return <span className={`mono json-${typeof value}`}>{String(value)}</span>;
  if (Object.keys(value).length === 0) return <span className="mono muted">{Array.isArray(value) ? "[]" : "{}"}</span>;
  if (depth >= DEPTH_MAX) return <LongText text={JSON.stringify(value, null, 2)} />;
  if (Array.isArray(value)) return <List list={value} label={label} depth={depth} />;
  return <ValueTable value={value} label={label} depth={depth + 1} />;
}

function List({
  list,
  label,
  depth,
}: {
  readonly list: readonly unknown[];
  readonly label: string;
  readonly depth: number;
}): ReactNode {
  const { isFolded, open, place } = useFold<HTMLDivElement>(list.length > ROWS_SHOWN);
  const shown = isFolded ? list.slice(0, ROWS_SHOWN) : list;
  const columns = findColumns(list);
  return (
    <div ref={place} tabIndex={-1} className="value-list">
      {columns === null ? (
        <ol aria-label={label}>
          {shown.map((one, at) => (
            // Entries of a list have no names.
            <li key={at}>
              <Value value={one} label={`${label} ${at + 1}`} depth={depth + 1} />
            </li>
          ))}
        </ol>
      ) : (
        <Rows rows={shown as readonly Readonly<Record<string, unknown>>[]} columns={columns} label={label} />
      )}
      {isFolded ? <More count={list.length} onOpen={open} /> : null}
    </div>
  );
}

/** A date stays on one line, as other short texts do. */
function chooseClass(value: unknown): string | undefined {
  if (typeof value === "number") return "numeric";
  return typeof value === "string" && value.length <= SHORT_UNITS ? "short" : undefined;
}

function Rows({
  rows,
  columns,
  label,
}: {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly columns: readonly string[];
  readonly label: string;
}): ReactNode {
  const doubts = confusable(columns);
  return (
    <div className="table-scroller" role="region" aria-label={label} tabIndex={0}>
      <table className="value-rows">
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                <Visible text={name} />
                <Doubt reason={doubts.get(name)} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {columns.map((name) => (
                <td key={name} className={chooseClass(row[name])} dir="auto">
                  <Visible text={typeof row[name] === "string" ? row[name] : String(row[name])} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The names that all entries have, if they are objects of the same few short members; null otherwise. */
function findColumns(list: readonly unknown[]): readonly string[] | null {
  const [first] = list;
  if (list.length < 2 || !isObject(first)) return null;
  const names = Object.keys(first);
  if (names.length === 0 || names.length > COLUMNS_MAX) return null;
  const isRow = (one: unknown): boolean =>
    isObject(one) &&
    Object.keys(one).length === names.length &&
    names.every((name) => name in one && isCell(one[name]));
  return list.every(isRow) ? names : null;
}

function isCell(value: unknown): boolean {
  if (typeof value === "string") return value.length <= CELL_UNITS_MAX && !value.includes("\n");
  return typeof value !== "object" || value === null;
}

function More({ count, onOpen }: { readonly count: number; readonly onOpen: () => void }): ReactNode {
  return (
    <button type="button" className="fold-button" onClick={onOpen}>
      Show all {count}
      <Key keys="o" />
    </button>
  );
}
