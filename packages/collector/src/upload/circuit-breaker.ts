// Circuit breaker of one tenant: pauses uploads after a cycle without delivery, then admits one cycle at a time as a
// probe until one succeeds. Each pause doubles up to COOLDOWN_MS_MAX, unless the backend requested another delay.
import type { Clock } from "@holdpoint/base/clock.ts";

export interface CircuitPorts {
  readonly clock: Clock;
  /** The circuit opens for `pauseMs`, or closes (reason null). */
  readonly onChange: (reason: string | null, pauseMs: number) => void;
  /** The pause is over: a probe may start. */
  readonly onProbe: () => void;
}

export interface CircuitBreaker {
  /** True during a pause: no cycle may start. */
  readonly isOpen: () => boolean;
  /** True from the first failed attempt until a cycle succeeds: one cycle at a time. */
  readonly isFailing: () => boolean;
  readonly noteFailure: () => void;
  /** `afterMs` null: the cooldown of this circuit. */
  readonly open: (reason: string, afterMs: number | null) => void;
  readonly close: () => void;
  /** Ends the pause without calling onProbe. */
  readonly endPause: () => void;
}

const COOLDOWN_MS_MAX = 300_000;

export function createCircuitBreaker(firstCooldownMs: number, ports: CircuitPorts): CircuitBreaker {
  let failing = false;
  let cooldownMs = firstCooldownMs;
  let cancelPause: (() => void) | null = null;
  return {
    isOpen: () => cancelPause !== null,
    isFailing: () => failing,
    noteFailure() {
      failing = true;
    },
    open(reason, afterMs) {
      failing = true;
      if (cancelPause !== null) return;
      const pauseMs = afterMs ?? cooldownMs;
      cooldownMs = Math.min(COOLDOWN_MS_MAX, cooldownMs * 2);
      ports.onChange(reason, pauseMs);
      cancelPause = ports.clock.after(pauseMs, () => {
        cancelPause = null;
        ports.onProbe();
      });
    },
    close() {
      if (!failing) return;
      failing = false;
      cooldownMs = firstCooldownMs;
      ports.onChange(null, 0);
    },
    endPause() {
      cancelPause?.();
      cancelPause = null;
    },
  };
}
