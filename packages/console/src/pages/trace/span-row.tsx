// Span row: one span of the tree: its name, its facts, and its bar on the time axis.
import { dollars } from "@holdpoint/api/traces/trace-costs.ts";
import { visible } from "@holdpoint/api/text/visible-text.ts";
import { useEffect, useRef, type ReactNode, type RefObject } from "react";
import { Chip } from "../../ui/controls.tsx";
import { count } from "../../ui/format.ts";
import { classifySpan } from "./kind.ts";
import type { SpanNode, SpanTree } from "./tree.ts";
import { measureBar, microTime } from "./waterfall.ts";

const INDENT_PX = 14;
/** Maximum indentation: deeper names would leave the column. */
const INDENT_LEVELS_MAX = 14;

export function SpanRow({
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
  const { span, level, children, below, errorsBelow, durationUs, critical, cost } = node;
  const kind = classifySpan(span);
  const end = span.start_us + durationUs;
  const bar = measureBar(tree, span.start_us, end, span.first_token_us);
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
        <span className="truncate">{visible(span.name ?? "span")}</span>
        <span className="visually-hidden">
          , {kind.name}, {isError ? "failed, " : ""}
        </span>
        {folded ? <span className="muted small">+{count(below)}</span> : null}
        {isError ? <span className="span-error" title={span.error ?? "failed"} /> : null}
        {folded && errorsBelow > 0 ? <Chip tone="red">{count(errorsBelow)}</Chip> : null}
        <span className="span-facts numeric muted">
          {span.input_tokens === undefined ? null : `${count(span.input_tokens + (span.output_tokens ?? 0))} tok`}
          {cost === null ? null : <span title="cost, with everything below"> {dollars(cost)}</span>}
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
