// Histogram: counts over time as bars, errors on top. uPlot, in its own chunk: import it lazily. Dragging selects a
// range and reports it; keyboard users set the same range as a filter.
import { useEffect, useRef, type ReactNode } from "react";
import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { readColour } from "./chart-colour.ts";

export interface HistogramProps {
  /** Seconds since 1970, ascending. */
  readonly starts: readonly number[];
  readonly good: readonly number[];
  readonly failed: readonly number[];
  readonly widthSecs: number;
  readonly label: string;
  /** Milliseconds since 1970. */
  readonly onRange: (from: number, to: number) => void;
}

const HEIGHT = 76;
const BAR_WIDTH_MAX = 28;
const MS = 1000;
const DRAWN_PX_MIN = 4;

export default function Histogram({ starts, good, failed, widthSecs, label, onRange }: HistogramProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const ranged = useRef(onRange);
  useEffect(() => {
    ranged.current = onRange;
  });
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const colour = (name: string): string => readColour(element, name);
    const bars = UPlot.paths.bars?.({ size: [0.8, BAR_WIDTH_MAX], align: 1 });
    const drawn = bars === undefined ? {} : { paths: bars };
    const axis = { stroke: colour("--muted"), grid: { stroke: colour("--border"), width: 1 }, ticks: { show: false } };
    const plot = new UPlot(
      {
        width: Math.max(1, element.clientWidth),
        height: HEIGHT,
        legend: { show: false },
        cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
        scales: {
          x: { range: () => [starts[0] ?? 0, (starts.at(-1) ?? 0) + widthSecs] },
          y: { range: (_, __, most) => [0, Math.max(1, most)] },
        },
        axes: [
          { ...axis, grid: { show: false }, size: 22 },
          { ...axis, size: 34, splits: (_, __, ___, most) => [0, most] },
        ],
        series: [
          {},
          { label: "all", stroke: colour("--red"), fill: colour("--red"), points: { show: false }, ...drawn },
          { label: "good", stroke: colour("--accent"), fill: colour("--accent"), points: { show: false }, ...drawn },
        ],
        hooks: {
          setSelect: [
            (chart) => {
              const { left, width } = chart.select;
              if (width < DRAWN_PX_MIN) return;
              ranged.current(chart.posToVal(left, "x") * MS, chart.posToVal(left + width, "x") * MS);
            },
          ],
        },
      },
      [[...starts], good.map((one, at) => one + (failed[at] ?? 0)), [...good]],
      element,
    );
    const watch = new ResizeObserver(() => plot.setSize({ width: Math.max(1, element.clientWidth), height: HEIGHT }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [starts, good, failed, widthSecs]);
  return <div ref={place} className="histogram" role="img" aria-label={label} />;
}
