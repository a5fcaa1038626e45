// Status: the status of a thread, a run or a trace, as a chip with the same colour everywhere.
import type { ReactNode } from "react";
import { Chip, type Tone } from "./controls.tsx";

const TONES: Readonly<Record<string, Tone>> = {
  idle: "neutral",
  busy: "accent",
  running: "accent",
  pending: "accent",
  interrupted: "amber",
  waiting: "amber",
  incomplete: "amber",
  error: "red",
  timeout: "red",
  success: "green",
};

export function Status({ status, title }: { readonly status: string; readonly title?: string }): ReactNode {
  const tone = TONES[status] ?? "neutral";
  return (
    <Chip tone={tone} {...(title === undefined ? {} : { title })}>
      <span
        className={status === "busy" || status === "running" ? "status-dot pulsing" : "status-dot"}
        aria-hidden="true"
      />
      {status}
    </Chip>
  );
}
