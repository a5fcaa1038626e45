// Tree view: one virtual list of spans, with folding, search by name, and the keyboard navigation of a tree.
// Invariants:
//   - Only visible rows are in the DOM, however many spans exist.
//   - The selected span is always visible: its ancestors unfold.
import { useMemo, useRef, useState, type ReactNode, type RefObject } from "react";
import { Button } from "../../ui/controls.tsx";
import { count } from "../../ui/format.ts";
import { useShortcuts } from "../../hooks/shortcuts.ts";
import { VirtualList } from "../../ui/virtual-list.tsx";
import { SpanRow } from "./span-row.tsx";
import { Ticks } from "./ticks.tsx";
import { listAncestors, nextPlace, visibleRows, type SpanNode, type SpanTree, type SpanViewProps } from "./tree.ts";

const ROW_HEIGHT = 30;
const TICKS_MOST = 5;

export function TreeView({ tree, chosen, onChoose }: SpanViewProps): ReactNode {
  const [wanted, setWanted] = useState("");
  const finder = useRef<HTMLInputElement>(null);
  const walk = useTreeWalk({ tree, chosen, onChoose });
  const { folding, rows, place } = walk;
  const isWanted = (one: SpanNode): boolean =>
    (one.span.name ?? "").toLowerCase().includes(wanted.trim().toLowerCase());
  useTreeKeys(tree, walk, finder);
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
            if (event.key === "Enter" && wanted.trim() !== "") walk.toNext(event.shiftKey ? -1 : 1, isWanted);
            if (event.key === "Escape") event.currentTarget.blur();
          }}
        />
        <Button kind="quiet" onClick={() => folding.set(new Set())}>
          Expand all
        </Button>
        <Button kind="quiet" onClick={() => folding.set(foldedBelow(tree))}>
          Collapse
        </Button>
      </div>
      <div className="span-row span-axis" aria-hidden="true">
        <span className="span-name">Name</span>
        <span className="span-lane">
          <Ticks lengthUs={tree.endUs - tree.startUs} most={TICKS_MOST} />
        </span>
      </div>
      <VirtualList
        items={rows}
        rowHeight={ROW_HEIGHT}
        label={`${count(tree.nodes.length)} spans`}
        role="tree"
        buildKey={(at) => tree.nodes[at]?.span.id ?? String(at)}
        active={rows.indexOf(place)}
        renderRow={(at) => {
          const one = tree.nodes[at];
          if (one === undefined) return null;
          const { id } = one.span;
          return (
            <SpanRow
              tree={tree}
              node={one}
              chosen={at === place}
              folded={folding.folded.has(id)}
              found={wanted.trim() !== "" && isWanted(one)}
              used={walk.used}
              onChoose={() => walk.chooseAt(at)}
              onFold={() => folding.fold(id, !folding.folded.has(id))}
            />
          );
        }}
      />
    </section>
  );
}

interface Folding {
  /** Ids of the folded spans. */
  readonly folded: ReadonlySet<string>;
  readonly fold: (id: string, isFolded: boolean) => void;
  readonly set: (folded: ReadonlySet<string>) => void;
}

interface TreeWalk {
  readonly folding: Folding;
  /** Indexes of the visible nodes. */
  readonly rows: readonly number[];
  /** Index of the selected node, or -1. */
  readonly place: number;
  /** The user has selected a span here. */
  readonly used: RefObject<boolean>;
  readonly chooseAt: (at: number | undefined) => void;
  /** Selects the next span in tree order for which `is` holds. */
  readonly toNext: (by: 1 | -1, is: (one: SpanNode) => boolean) => void;
}

/** Folding and selection. */
function useTreeWalk({ tree, chosen, onChoose }: SpanViewProps): TreeWalk {
  const [wantFolded, setWantFolded] = useState<ReadonlySet<string>>(new Set());
  const used = useRef(false);
  const place = useMemo(() => tree.nodes.findIndex(({ span }) => span.id === chosen), [tree, chosen]);
  const above = useMemo(() => listAncestors(tree, place), [tree, place]);
  const folded = useMemo(
    () =>
      above.some((id) => wantFolded.has(id))
        ? new Set([...wantFolded].filter((id) => !above.includes(id)))
        : wantFolded,
    [wantFolded, above],
  );
  const rows = useMemo(() => visibleRows(tree, folded), [tree, folded]);
  const chooseAt = (at: number | undefined): void => {
    const id = at === undefined ? undefined : tree.nodes[at]?.span.id;
    if (id === undefined) return;
    used.current = true;
    onChoose(id);
  };
  const fold = (id: string, isFolded: boolean): void => {
    const next = new Set(folded);
    if (isFolded) next.add(id);
    else next.delete(id);
    setWantFolded(next);
  };
  const toNext = (by: 1 | -1, is: (one: SpanNode) => boolean): void => {
    const found = nextPlace(tree, place, by, is);
    if (found >= 0) chooseAt(found);
  };
  return { folding: { folded, fold, set: setWantFolded }, rows, place, used, chooseAt, toNext };
}

function useTreeKeys(tree: SpanTree, walk: TreeWalk, finder: RefObject<HTMLInputElement | null>): void {
  const { folding, rows, place, chooseAt, toNext } = walk;
  const node = tree.nodes[place];
  const row = rows.indexOf(place);
  const move = (by: number): void => chooseAt(rows[Math.max(0, Math.min(rows.length - 1, row + by))]);
  const left = (): void => {
    if (node === undefined) return;
    if (node.children > 0 && !folding.folded.has(node.span.id)) folding.fold(node.span.id, true);
    else if (node.parent >= 0) chooseAt(node.parent);
  };
  const right = (): void => {
    if (node === undefined || node.children === 0) return;
    if (folding.folded.has(node.span.id)) folding.fold(node.span.id, false);
    else chooseAt(place + 1);
  };
  const isError = ({ span }: SpanNode): boolean => span.status === "error";
  useShortcuts("Trace", [
    { keys: "ArrowDown", label: "Next span", run: () => move(1) },
    { keys: "j", label: "Next span", run: () => move(1) },
    { keys: "ArrowUp", label: "Previous span", run: () => move(-1) },
    { keys: "k", label: "Previous span", run: () => move(-1) },
    { keys: "ArrowLeft", label: "Collapse, or go to the parent", run: left },
    { keys: "ArrowRight", label: "Expand, or go to the first child", run: right },
    { keys: "Home", label: "First span", run: () => chooseAt(rows[0]) },
    { keys: "End", label: "Last span", run: () => chooseAt(rows.at(-1)) },
    { keys: "]", label: "Next error", run: () => toNext(1, isError) },
    { keys: "[", label: "Previous error", run: () => toNext(-1, isError) },
    { keys: "f", label: "Find a span by its name", run: () => finder.current?.focus() },
  ]);
}

/** Everything below the first level. */
function foldedBelow({ nodes }: SpanTree): ReadonlySet<string> {
  return new Set(nodes.filter(({ level, children }) => level > 1 && children > 0).map(({ span }) => span.id));
}
