// Moments: the collector's metrics, polled every second while the page is open, and kept for the chart. They outlive
// the page, so that the last minutes remain after a return.
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { call } from "../../api/client.ts";
import { figuresIn, type Figure } from "../../charts/prometheus.ts";
import { createValue, useValue } from "../../hooks/value.ts";
import { buildRateSample, withRateSample, type RateSample } from "./rates.ts";

export interface Problem {
  readonly at: string;
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

interface Reply {
  readonly metrics: string;
  /** Newest first; null for a collector in another process. */
  readonly problems: readonly Problem[] | null;
}

const SAMPLE_MS = 1000;
const moments = createValue<readonly RateSample[]>([]);

export interface Figures {
  readonly figures: readonly Figure[];
  readonly problems: readonly Problem[] | null;
  readonly moments: readonly RateSample[];
  /** The error of the last poll, or null. */
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly retry: () => void;
}

export function useFigures(): Figures {
  const reply = useQuery({
    queryKey: ["collector"],
    refetchInterval: SAMPLE_MS,
    queryFn: async ({ signal }) => {
      const got = await call<Reply>("GET", "/console/api/collector", { signal });
      const figures = figuresIn(got.metrics);
      moments.set(withRateSample(moments.get(), buildRateSample(figures, Date.now())));
      return { figures, problems: got.problems };
    },
  });
  const kept = useValue(moments);
  return useMemo(
    () => ({
      figures: reply.data?.figures ?? [],
      problems: reply.data === undefined ? [] : reply.data.problems,
      moments: kept,
      error: reply.error,
      isPending: reply.isPending,
      retry: () => void reply.refetch(),
    }),
    [reply, kept],
  );
}
