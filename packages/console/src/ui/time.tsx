// Time: a relative time, with date and time on hover.
import type { ReactNode } from "react";
import { useNow } from "../hooks/clock.ts";
import { absoluteTime, relativeTime, shortDuration } from "./format.ts";

export function RelativeTime({ at }: { readonly at: string }): ReactNode {
  const ms = Date.parse(at);
  return (
    <time dateTime={at} title={absoluteTime(ms)}>
      {relativeTime(ms, useNow())}
    </time>
  );
}

/** Age without "ago": for columns. */
export function Age({ at, className }: { readonly at: string; readonly className?: string }): ReactNode {
  const ms = Date.parse(at);
  return (
    <time dateTime={at} title={absoluteTime(ms)} className={className}>
      {shortDuration(Math.max(0, useNow() - ms))}
    </time>
  );
}
