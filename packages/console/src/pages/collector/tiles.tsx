// Tiles: the current state of the collector in a few figures; problems are red or amber.
import type { ReactNode } from "react";
import { bytes, count, duration } from "../../ui/format.ts";
import { computeQuantile, computeShares, sumFigures, type Figure } from "../../charts/prometheus.ts";
import { rateNow, type RateSample } from "./rates.ts";

const MS = 1000;
const FULL_SHARE = 0.8;

interface TileProps {
  readonly name: string;
  readonly value: string;
  readonly note: string;
  readonly tone?: "amber" | "red" | null;
  /** Fill level, 0 to 1. */
  readonly share?: number;
}

export function Tiles({
  figures,
  moments,
}: {
  readonly figures: readonly Figure[];
  readonly moments: readonly RateSample[];
}): ReactNode {
  const tiles = [...trafficTiles(figures, moments), ...queueTiles(figures), ...lossTiles(figures)];
  return (
    <dl className="tiles" aria-label="Figures">
      {tiles.map((tile) => (
        <Tile key={tile.name} {...tile} />
      ))}
    </dl>
  );
}

const total = (figures: readonly Figure[], name: string): number => sumFigures(figures, `otelcol_${name}`);

function trafficTiles(figures: readonly Figure[], moments: readonly RateSample[]): readonly TileProps[] {
  const sum = (name: string): string => count(total(figures, name));
  const refused = computeShares(figures, "http_server_requests_total", "status").filter(([status]) => status !== "200");
  const raw = total(figures, "exporter_batch_uncompressed_bytes_total");
  const compressed = total(figures, "exporter_batch_compressed_bytes_total");
  return [
    {
      name: "Requests",
      value: perSecond(rateNow(moments, "requests")),
      note:
        refused.length === 0
          ? "all accepted"
          : refused.map(([status, refusals]) => `${count(refusals)} × ${status}`).join(", "),
      tone: refused.length === 0 ? null : "amber",
    },
    {
      name: "Spans in",
      value: perSecond(rateNow(moments, "received")),
      note: `${sum("receiver_accepted_spans_total")} accepted, ${sum("receiver_rejected_spans_total")} rejected`,
    },
    {
      name: "Spans out",
      value: perSecond(rateNow(moments, "sent")),
      note: `${sum("exporter_sent_spans_total")} delivered, ${sum("exporter_pending_spans")} in flight`,
    },
    {
      name: "Uploaded",
      value: `${bytes(Math.round(rateNow(moments, "packedBytes") ?? 0))}/s`,
      note:
        compressed === 0
          ? "nothing yet"
          : `${bytes(raw)} compressed to ${bytes(compressed)}, ${(raw / compressed).toFixed(1)} to 1`,
    },
  ];
}

function queueTiles(figures: readonly Figure[]): readonly TileProps[] {
  const [queued, capacity] = [total(figures, "exporter_queue_size"), total(figures, "exporter_queue_capacity")];
  const paused = total(figures, "exporter_resting_keys");
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) =>
    computeQuantile(figures, "otelcol_exporter_upload_seconds", share),
  );
  return [
    {
      name: "Buffer",
      value: bytes(queued),
      note: `of ${bytes(capacity)}; ${count(total(figures, "exporter_queue_runs"))} in sealed batches`,
      tone: capacity > 0 && queued > capacity * FULL_SHARE ? "amber" : null,
      share: capacity === 0 ? 0 : queued / capacity,
    },
    {
      name: "Uploads in progress",
      value: count(total(figures, "exporter_inflight_uploads")),
      note: p50 === null ? "none finished yet" : `p50 ${secs(p50)}, p95 ${secs(p95)}, p99 ${secs(p99)}`,
    },
    {
      name: "Retries",
      value: count(total(figures, "exporter_retries_total")),
      note: paused === 0 ? "no keys backing off" : `${count(paused)} backing off`,
      tone: paused === 0 ? null : "amber",
    },
  ];
}

function lossTiles(figures: readonly Figure[]): readonly TileProps[] {
  const dropped = total(figures, "exporter_dropped_spans_total");
  const deadLetters = total(figures, "exporter_dead_letter_spans_total");
  return [
    {
      name: "Dead letters",
      value: count(deadLetters),
      note: reasons(figures, "otelcol_exporter_dead_letter_spans_total") || "no dead letters",
      tone: deadLetters === 0 ? null : "amber",
    },
    {
      name: "Lost",
      value: count(dropped),
      note: reasons(figures, "otelcol_exporter_dropped_spans_total") || "nothing",
      tone: dropped === 0 ? null : "red",
    },
    {
      name: "Waiting for a parent",
      value: count(total(figures, "processor_waiting_spans")),
      note: `traces in memory: ${count(total(figures, "processor_traces"))}`,
    },
  ];
}

const perSecond = (rate: number | null): string =>
  rate === null ? "–" : `${rate >= 10 || rate === 0 ? count(Math.round(rate)) : rate.toFixed(1)}/s`;

const secs = (value: number | null | undefined): string =>
  value === null || value === undefined ? "–" : duration(value * MS);

const reasons = (figures: readonly Figure[], name: string): string =>
  computeShares(figures, name, "reason")
    .map(([reason, sum]) => `${count(sum)} ${reason.replaceAll("_", " ")}`)
    .join(", ");

function Tile({ name, value, note, tone = null, share }: TileProps): ReactNode {
  return (
    <div className={`tile card ${tone ?? ""}`}>
      <dt>{name}</dt>
      <dd className="tile-value numeric">{value}</dd>
      <dd className="muted small">{note}</dd>
      {share === undefined ? null : (
        <dd className="tile-track" aria-hidden="true">
          <span style={{ width: `${Math.min(1, share) * 100}%` }} />
        </dd>
      )}
    </div>
  );
}
