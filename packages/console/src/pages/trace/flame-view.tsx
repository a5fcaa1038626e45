// Flame view: the whole trace as boxes. Shares selection and keys with the tree.
import { visible } from "@holdpoint/api/text/visible-text.ts";
import { useMemo, type ReactNode } from "react";
import { count } from "../../ui/format.ts";
import { buildFlame, type FlameBox } from "./flame.ts";
import { classifySpan } from "./kind.ts";
import { Ticks } from "./ticks.tsx";
import { listAncestors, type SpanTree, type SpanViewProps } from "./tree.ts";
import { microTime } from "./waterfall.ts";

const NARROWEST_PERCENT = 0.25;
const BOXES_MAX = 4000;
const ROW_PX = 24;
const TICKS_MOST = 8;
/** A narrower box would truncate the name to a few dots. */
const NAMED_PERCENT = 3;

export function FlameView({ tree, chosen, onChoose }: SpanViewProps): ReactNode {
  const flame = useMemo(() => buildFlame(tree, NARROWEST_PERCENT), [tree]);
  const above = useMemo(() => {
    const place = tree.nodes.findIndex(({ span }) => span.id === chosen);
    return new Set(place < 0 ? [] : listAncestors(tree, place));
  }, [tree, chosen]);
  const shown = flame.boxes.slice(0, BOXES_MAX);
  return (
    <section className="flame" aria-label="Flame">
      <div className="flame-axis" aria-hidden="true">
        <Ticks lengthUs={tree.endUs - tree.startUs} most={TICKS_MOST} />
      </div>
      <div className="flame-scroller" role="group" aria-label={`${count(tree.nodes.length)} spans`} tabIndex={0}>
        <div className="flame-space" style={{ height: flame.rows * ROW_PX }}>
          {shown.map((box) => (
            <Box key={box.place} tree={tree} box={box} chosen={chosen} above={above} onChoose={onChoose} />
          ))}
        </div>
      </div>
      {shown.length < flame.boxes.length ? (
        <p className="muted small flame-more">The first {count(BOXES_MAX)} boxes; the tree has all.</p>
      ) : null}
    </section>
  );
}

function Box({
  tree,
  box: { place, row, left, width, spans, errors },
  chosen,
  above,
  onChoose,
}: {
  readonly tree: SpanTree;
  readonly box: FlameBox;
  readonly chosen: string | null;
  readonly above: ReadonlySet<string>;
  readonly onChoose: (span: string) => void;
}): ReactNode {
  const node = tree.nodes[place];
  if (node === undefined) return null;
  const { span, durationUs } = node;
  const kind = classifySpan(span);
  const more = spans === 1 ? "" : ` and ${count(spans - 1)} more`;
  const words = `${span.name ?? "span"}${more}, ${microTime(durationUs)}${errors === 0 ? "" : `, ${count(errors)} failed`}`;
  const classes = [
    "flame-box",
    kind.tone,
    errors > 0 ? "failed" : "",
    span.id === chosen ? "chosen" : "",
    above.has(span.id) ? "above" : "",
  ];
  return (
    <button
      type="button"
      tabIndex={-1} // too many tab stops: keyboard users have the tree
      aria-label={words}
      title={words}
      className={classes.filter((one) => one !== "").join(" ")}
      style={{ top: row * ROW_PX, left: `${left}%`, width: `${width}%` }}
      onClick={() => onChoose(span.id)}
    >
      {width < NAMED_PERCENT ? null : <span className="truncate">{visible(span.name ?? "span")}</span>}
    </button>
  );
}
