// Line chart: values over time. uPlot, in its own chunk: import it lazily. Text beside it describes the same data.
import { useEffect, useRef, type ReactNode } from "react";
import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { readColour } from "./chart-colour.ts";

export interface LineChartProps {
  /** Seconds since 1970, ascending. */
  readonly times: readonly number[];
  readonly lines: readonly {
    readonly name: string;
    /** A CSS variable. */
    readonly colour: string;
    /** One per time; null leaves a gap. */
    readonly values: readonly (number | null)[];
  }[];
  /** Minimum range of the time axis, seconds. */
  readonly windowSecs: number;
  readonly label: string;
}

const HEIGHT = 150;

export default function LineChart({ times, lines, windowSecs, label }: LineChartProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<UPlot | null>(null);
  const newest = useRef({ times, lines });
  const names = lines.map(({ name, colour }) => `${name} ${colour}`).join();
  useEffect(() => {
    newest.current = { times, lines };
    chart.current?.setData([[...times], ...lines.map(({ values }) => [...values])]);
  }, [times, lines]);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const axis = {
      stroke: readColour(element, "--muted"),
      grid: { stroke: readColour(element, "--border"), width: 1 },
      ticks: { show: false },
    };
    const { times: began, lines: drawn } = newest.current;
    const plot = new UPlot(
      {
        width: Math.max(1, element.clientWidth),
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: false },
        scales: {
          x: { range: (_, __, last) => [last - windowSecs, last] },
          y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] },
        },
        axes: [
          { ...axis, grid: { show: false }, size: 24, values: (_, splits) => splits.map(clockTime) },
          { ...axis, size: 46 },
        ],
        series: [
          {},
          ...drawn.map(({ name, colour }) => {
            const stroke = readColour(element, colour);
            return { label: name, stroke, width: 1.5, points: { show: false }, fill: faint(stroke) };
          }),
        ],
      },
      [[...began], ...drawn.map(({ values }) => [...values])],
      element,
    );
    chart.current = plot;
    const watch = new ResizeObserver(() => plot.setSize({ width: Math.max(1, element.clientWidth), height: HEIGHT }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      plot.destroy();
      chart.current = null;
    };
  }, [names, windowSecs]);
  return <div ref={place} className="line-chart" role="img" aria-label={label} />;
}

const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const clockTime = (secs: number): string => CLOCK.format(secs * 1000);

/** "rgb(1, 2, 3)" → the same, almost transparent. */
const faint = (colour: string): string => colour.replace(/^rgb\((.*)\)$/, "rgba($1, 0.12)");
