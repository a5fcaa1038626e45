// Ticks: the marks of a time axis.
import type { ReactNode } from "react";
import { microTime, listTicks } from "./waterfall.ts";

/** @param lengthUs of the axis @param most marks */
export function Ticks({ lengthUs, most }: { readonly lengthUs: number; readonly most: number }): ReactNode {
  return listTicks(lengthUs, most).map((at) => (
    <span key={at} className="span-tick numeric" style={{ left: `${lengthUs === 0 ? 0 : (at / lengthUs) * 100}%` }}>
      {microTime(at)}
    </span>
  ));
}
