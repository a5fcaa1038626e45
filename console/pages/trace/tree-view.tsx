// Tree view: one virtual list of spans, each row with name and bar; keyboard navigation of a tree.
// Invariants:
//   tree-view.1. Only visible rows are in the DOM, however many spans exist.
//   tree-view.2. The selected span is always visible: its ancestors unfold.
import { useEffect, useMemo, useRef, useState, type ReactNode, type RefObject } from "react";
import { Button, Chip } from "../../ui/controls.tsx";
import { count } from "../../ui/format.ts";
import { useShortcuts } from "../../hooks/shortcuts.ts";
import { VirtualList } from "../../ui/virtual-list.tsx";
import { kindOf } from "./kind.ts";
import { ancestorsOf, nextPlace, visibleRows, type SpanNode, type SpanTree } from "./tree.ts";
import { barOf, microTime, ticksOf } from "./waterfall.ts";

const ROW_HEIGHT = 30;
const TICKS_MOST = 5;
const INDENT_PX = 14;
/** Maximum indentation: deeper names would leave the column. */
const INDENT_LEVELS_MAX = 14;

export function TreeView({
  tree,
  chosen,
  onChoose,
}: {
  readonly tree: SpanTree;
  readonly chosen: string | null;
  readonly onChoose: (span: string) => void;
}): ReactNode {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [wanted, setWanted] = useState("");
  const finder = useRef<HTMLInputElement>(null);
  const used = useRef(false);
  const place = useMemo(() => tree.nodes.findIndex(({ span }) => span.id === chosen), [tree, chosen]);
  const above = useMemo(() => ancestorsOf(tree, place), [tree, place]);
  const open = useMemo(
    () => (above.some((id) => folded.has(id)) ? new Set([...folded].filter((id) => !above.includes(id))) : folded), // tree-view.2
    [folded, above],
  );
  const rows = useMemo(() => visibleRows(tree, open), [tree, open]);
  const row = rows.indexOf(place);
  const node = tree.nodes[place];
  const isWanted = (one: SpanNode): boolean =>
    (one.span.name ?? "").toLowerCase().includes(wanted.trim().toLowerCase());
  const chooseAt = (at: number | undefined): void => {
    const id = at === undefined ? undefined : tree.nodes[at]?.span.id;
    if (id === undefined) return;
    used.current = true;
    onChoose(id);
  };
  const move = (by: number): void => chooseAt(rows[Math.max(0, Math.min(rows.length - 1, row + by))]);
  const fold = (id: string, isFolded: boolean): void => {
    const next = new Set(open);
    if (isFolded) next.add(id);
    else next.delete(id);
    setFolded(next);
  };
  const toNext = (by: 1 | -1, which: (one: SpanNode) => boolean): void => {
    const found = nextPlace(tree, place, by, which);
    if (found >= 0) chooseAt(found);
  };
  const isError = ({ span }: SpanNode): boolean => span.status === "error";
  const left = (): void => {
    if (node === undefined) return;
    if (node.children > 0 && !open.has(node.span.id)) fold(node.span.id, true);
    else if (node.parent >= 0) chooseAt(node.parent);
  };
  const right = (): void => {
    if (node === undefined || node.children === 0) return;
    if (open.has(node.span.id)) fold(node.span.id, false);
    else chooseAt(place + 1);
  };
  useShortcuts("Trace", [
    { keys: "ArrowDown", label: "Next span", run: () => move(1) },
    { keys: "j", label: "Next span", run: () => move(1) },
    { keys: "ArrowUp", label: "Previous span", run: () => move(-1) },
    { keys: "k", label: "Previous span", run: () => move(-1) },
    { keys: "ArrowLeft", label: "Fold, or go to the parent", run: left },
    { keys: "ArrowRight", label: "Unfold, or go to the first child", run: right },
    { keys: "Home", label: "First span", run: () => chooseAt(rows[0]) },
    { keys: "End", label: "Last span", run: () => chooseAt(rows.at(-1)) },
    { keys: "]", label: "Next error", run: () => toNext(1, isError) },
    { keys: "[", label: "Previous error", run: () => toNext(-1, isError) },
    { keys: "f", label: "Find a span by its name", run: () => finder.current?.focus() },
  ]);
  const label = `${count(tree.nodes.length)} spans`;
  return (
    <section className="trace-tree" aria-label="Spans">
      <div className="trace-tools">
        <input
          ref={finder}
          type="search"
          aria-label="Find a span by its name"
          placeholder="Find a span"
          value={wanted}
          onChange={(event) => setWanted(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && wanted.trim() !== "") toNext(event.shiftKey ? -1 : 1, isWanted);
            if (event.key === "Escape") event.currentTarget.blur();
          }}
        />
        <Button kind="quiet" onClick={() => setFolded(new Set())}>
          Unfold all
        </Button>
        <Button kind="quiet" onClick={() => setFolded(foldedBelow(tree))}>
          Fold
        </Button>
      </div>
      <Axis tree={tree} />
      <VirtualList
        items={rows}
        rowHeight={ROW_HEIGHT}
        label={label}
        role="tree"
        keyOf={(at) => tree.nodes[at]?.span.id ?? String(at)}
        active={row}
        renderRow={(at) => {
          const one = tree.nodes[at];
          if (one === undefined) return null;
          const { id } = one.span;
          return (
            <Row
              tree={tree}
              node={one}
              chosen={at === place}
              folded={open.has(id)}
              found={wanted.trim() !== "" && isWanted(one)}
              used={used}
              onChoose={() => chooseAt(at)}
              onFold={() => fold(id, !open.has(id))}
            />
          );
        }}
      />
    </section>
  );
}

/** Everything below the first level. */
function foldedBelow({ nodes }: SpanTree): ReadonlySet<string> {
  return new Set(nodes.filter(({ level, children }) => level > 1 && children > 0).map(({ span }) => span.id));
}

/**
 * Focus follows the selection, as in any tree, also if the focused row has left the DOM meanwhile. Focus elsewhere on
 * the page stays there, and so does focus before the first selection.
 */
function useFocusWhenChosen(chosen: boolean, used: RefObject<boolean>): RefObject<HTMLDivElement | null> {
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { activeElement } = document;
    const isFree = activeElement === document.body || activeElement?.closest("[role=tree]") != null;
    if (chosen && used.current && isFree) row.current?.focus({ preventScroll: true });
  }, [chosen, used]);
  return row;
}

function Axis({ tree }: { readonly tree: SpanTree }): ReactNode {
  const length = tree.endUs - tree.startUs;
  return (
    <div className="span-row span-axis" aria-hidden="true">
      <span className="span-name">Name</span>
      <span className="span-lane">
        {ticksOf(length, TICKS_MOST).map((at) => (
          <span key={at} className="span-tick numeric" style={{ left: `${length === 0 ? 0 : (at / length) * 100}%` }}>
            {microTime(at)}
          </span>
        ))}
      </span>
    </div>
  );
}

function Row({
  tree,
  node,
  chosen,
  folded,
  found,
  used,
  onChoose,
  onFold,
}: {
  readonly tree: SpanTree;
  readonly node: SpanNode;
  readonly chosen: boolean;
  readonly folded: boolean;
  readonly found: boolean;
  /** The user has selected a span here. */
  readonly used: RefObject<boolean>;
  readonly onChoose: () => void;
  readonly onFold: () => void;
}): ReactNode {
  const { span, level, children, below, errorsBelow, durationUs, critical } = node;
  const kind = kindOf(span);
  const end = span.start_us + durationUs;
  const bar = barOf(tree, span.start_us, end, span.first_token_us);
  const isError = span.status === "error";
  const classes = ["span-row", chosen ? "chosen" : "", critical ? "critical" : "", found ? "found" : ""];
  return (
    // Keys are page shortcuts: they work with any focus.
    <div
      ref={useFocusWhenChosen(chosen, used)}
      role="treeitem"
      aria-level={level}
      aria-setsize={node.siblings}
      aria-posinset={node.position}
      aria-selected={chosen}
      {...(children === 0 ? {} : { "aria-expanded": !folded })}
      tabIndex={chosen ? 0 : -1}
      className={classes.filter((one) => one !== "").join(" ")}
      onClick={onChoose}
    >
      <span className="span-name" style={{ paddingLeft: Math.min(level - 1, INDENT_LEVELS_MAX) * INDENT_PX + 8 }}>
        <span
          className={`span-fold ${children === 0 ? "leaf" : ""}`}
          aria-hidden="true"
          onClick={(event) => {
            if (children === 0) return;
            event.stopPropagation();
            onFold();
          }}
        >
          {children === 0 ? "" : folded ? "▸" : "▾"}
        </span>
        <span className={`span-kind ${kind.tone}`} title={kind.name} aria-hidden="true">
          {kind.sign}
        </span>
        <span className="truncate">{span.name ?? "span"}</span>
        <span className="visually-hidden">
          , {kind.name}, {isError ? "failed, " : ""}
        </span>
        {folded ? <span className="muted small">+{count(below)}</span> : null}
        {isError ? <span className="span-error" title={span.error ?? "failed"} /> : null}
        {folded && errorsBelow > 0 ? <Chip tone="red">{count(errorsBelow)}</Chip> : null}
        <span className="span-facts numeric muted">
          {span.input_tokens === undefined ? null : `${count(span.input_tokens + (span.output_tokens ?? 0))} tok`}
        </span>
      </span>
      <span className="span-lane">
        <span
          className={`span-bar ${kind.tone} ${isError ? "failed" : ""}`}
          style={{ left: `min(${bar.left}%, 100% - 2px)`, width: `${bar.width}%` }}
        >
          {bar.tick === null ? null : <span className="span-first-token" style={{ left: `${bar.tick}%` }} />}
        </span>
        <BarTime left={bar.left} right={bar.left + bar.width} text={microTime(durationUs)} />
      </span>
    </div>
  );
}

/** Percentages of the width: the time appears after the bar, before it, or inside a nearly full one. */
const LABEL_TURNS_AT = 82;

function BarTime({
  left,
  right,
  text,
}: {
  readonly left: number;
  readonly right: number;
  readonly text: string;
}): ReactNode {
  const [side, style] =
    right <= LABEL_TURNS_AT
      ? (["after", { left: `${right}%` }] as const)
      : left >= 100 - LABEL_TURNS_AT
        ? (["before", { right: `${100 - left}%` }] as const)
        : (["inside", { right: `${100 - right}%` }] as const);
  return (
    <span className={`span-time numeric ${side}`} style={style}>
      {text}
    </span>
  );
}
