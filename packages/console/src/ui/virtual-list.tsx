// Virtual list: renders only the visible rows of a long list with a fixed row height.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, type ReactNode } from "react";

const OVERSCAN = 12;

export function VirtualList<Item>({
  items,
  rowHeight,
  label,
  role = "list",
  buildKey,
  renderRow,
  active = -1,
  onNearEnd,
}: {
  readonly items: readonly Item[];
  /** In pixels. */
  readonly rowHeight: number;
  readonly label: string;
  readonly role?: "list" | "listbox" | "tree" | "table";
  readonly buildKey: (item: Item) => string;
  readonly renderRow: (item: Item, index: number) => ReactNode;
  /** Scrolled into view. */
  readonly active?: number;
  /** Near the end of the rows: load more. */
  readonly onNearEnd?: (() => void) | undefined;
}): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: items.length,
    estimateSize: () => rowHeight,
    getScrollElement: () => scroller.current,
    overscan: OVERSCAN,
    getItemKey: (index) => {
      const item = items[index];
      return item === undefined ? index : buildKey(item);
    },
  });
  const rows = virtual.getVirtualItems();
  const last = rows.at(-1)?.index ?? -1;
  useEffect(() => {
    if (onNearEnd !== undefined && items.length > 0 && last >= items.length - OVERSCAN) onNearEnd();
  }, [last, items.length, onNearEnd]);
  useEffect(() => {
    const place = scroller.current;
    if (active < 0 || place === null) return;
    const [above, below] = [active * rowHeight, (active + 1) * rowHeight - place.clientHeight];
    if (place.scrollTop > above) place.scrollTop = above;
    else if (place.scrollTop < below) place.scrollTop = below;
  }, [active, rowHeight]);
  useEffect(() => virtual.measure(), [rowHeight, virtual]);
  return (
    <div ref={scroller} className="virtual-scroller" tabIndex={-1}>
      <div className="virtual-space" role={role} aria-label={label} style={{ height: virtual.getTotalSize() }}>
        {rows.map((row) => {
          const item = items[row.index];
          return item === undefined ? null : (
            <div
              key={row.key}
              role="presentation"
              className="virtual-row"
              style={{ height: row.size, transform: `translateY(${row.start}px)` }}
            >
              {renderRow(item, row.index)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
