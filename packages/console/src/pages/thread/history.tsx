// History: the checkpoints as a timeline; the selected one beside it, or a comparison of two; forks and re-runs from
// there.
import { shortId } from "@holdpoint/api/text/short-id.ts";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useMemo, useState } from "react";
import type { Thread } from "../../api/types.ts";
import { ChoiceRow } from "../../frames/list-page.tsx";
import { useShortcuts } from "../../hooks/shortcuts.ts";
import { JsonCard } from "../../json/json-card.tsx";
import { JsonDiff } from "../../diff/json-diff.tsx";
import { Button, Chip, EmptyState, Failure, Loading } from "../../ui/controls.tsx";
import { CopyButton, CopyCurl } from "../../ui/copy.tsx";
import { duration } from "../../ui/format.ts";
import { RelativeTime } from "../../ui/time.tsx";
import { withToast } from "../../ui/with-toast.ts";
import { VirtualList } from "../../ui/virtual-list.tsx";
import { type Step, buildSteps } from "./history.ts";
import { StateDialog, runFrom, startFrom } from "./state-dialog.tsx";
import { useCheckpoint, useHistory } from "./use-history.ts";
import { useRefresh } from "./use-thread.ts";

const threadRoute = getRouteApi("/threads/$threadId");

const ROW_HEIGHT = 52;
const RAIL_WIDTH = 14;

export function HistoryTab({ thread }: { readonly thread: Thread }): ReactNode {
  const history = useHistory(thread);
  const search = threadRoute.useSearch();
  const navigate = useNavigate();
  const steps = useMemo(() => buildSteps(history.data?.pages.flat() ?? []), [history.data]);
  const at = Math.max(
    0,
    steps.findIndex(({ id }) => id === search.checkpoint),
  );
  const chosen = steps[at];
  const choose = (change: { readonly checkpoint?: string | undefined; readonly with?: string | undefined }): void =>
    void navigate({
      to: "/threads/$threadId",
      params: { threadId: thread.thread_id },
      search: { ...search, ...change },
      replace: true,
    });
  const move = (by: number): void => {
    const step = steps[Math.max(0, Math.min(steps.length - 1, at + by))];
    if (step !== undefined) choose({ checkpoint: step.id });
  };
  useShortcuts("History", [
    { keys: "j", label: "Earlier checkpoint", run: () => move(1) },
    { keys: "ArrowDown", label: "Earlier checkpoint", run: () => move(1) },
    { keys: "k", label: "Later checkpoint", run: () => move(-1) },
    { keys: "ArrowUp", label: "Later checkpoint", run: () => move(-1) },
    {
      keys: "c",
      label: "Compare with this one, or stop comparing",
      run: () => choose({ with: search.with === undefined ? chosen?.id : undefined }),
    },
  ]);
  if (history.isPending) return <Loading />;
  if (history.isError && steps.length === 0)
    return <Failure error={history.error} onRetry={() => void history.refetch()} />;
  if (chosen === undefined) {
    return (
      <EmptyState icon="clock" title="No checkpoints yet">
        <p>Every step of a run creates one.</p>
      </EmptyState>
    );
  }
  return (
    <div className="split">
      <div className="split-list">
        <VirtualList
          items={steps}
          rowHeight={ROW_HEIGHT}
          label="Checkpoints, newest first"
          buildKey={(step) => step.id}
          active={at}
          renderRow={(step) => (
            <StepRow
              step={step}
              chosen={step.id === chosen.id}
              compared={step.id === search.with}
              onChoose={() => choose({ checkpoint: step.id })}
            />
          )}
          onNearEnd={
            history.hasNextPage && !history.isFetchingNextPage ? () => void history.fetchNextPage() : undefined
          }
        />
      </div>
      <Detail
        key={chosen.id}
        thread={thread}
        step={chosen}
        other={search.with ?? null}
        onCompare={(id) => choose({ with: id })}
      />
    </div>
  );
}

const SOURCE_TONES = { input: "accent", update: "amber", fork: "amber", loop: "neutral" } as const;

function StepRow({
  step,
  chosen,
  compared,
  onChoose,
}: {
  readonly step: Step;
  readonly chosen: boolean;
  readonly compared: boolean;
  readonly onChoose: () => void;
}): ReactNode {
  const { state, source } = step;
  const tone = SOURCE_TONES[source as keyof typeof SOURCE_TONES] ?? "neutral";
  return (
    <ChoiceRow chosen={chosen} onChoose={onChoose}>
      <Rails step={step} />
      <span className="step-words">
        <span className="row">
          <span className="numeric step-number">{step.number ?? "–"}</span>
          <Chip tone={tone}>{source}</Chip>
          {state.next.length > 0 ? (
            <span className="truncate">next {state.next.join(", ")}</span>
          ) : (
            <span className="muted">end</span>
          )}
          {state.interrupts.length > 0 ? <Chip tone="amber">paused</Chip> : null}
          {compared ? <Chip tone="accent">compared</Chip> : null}
        </span>
        <span className="muted small truncate">
          {step.durationMs === null ? "" : `${duration(step.durationMs)} · `}
          {step.changed.length === 0 ? "no changes" : `changed ${step.changed.join(", ")}`}
        </span>
      </span>
    </ChoiceRow>
  );
}

function Rails({ step }: { readonly step: Step }): ReactNode {
  const width = (Math.max(...step.rails, step.rail) + 1) * RAIL_WIDTH;
  const x = (rail: number): number => rail * RAIL_WIDTH + RAIL_WIDTH / 2;
  const middle = ROW_HEIGHT / 2;
  const passing = step.rails.filter((rail) => rail !== step.rail && !step.joins.includes(rail));
  return (
    <svg className="rails" width={width} height={ROW_HEIGHT} aria-hidden="true">
      {passing.map((rail) => (
        <line key={rail} x1={x(rail)} x2={x(rail)} y1={0} y2={ROW_HEIGHT} />
      ))}
      {step.joins.map((rail) => (
        <path key={rail} d={`M${x(rail)} 0 Q${x(rail)} ${middle} ${x(step.rail)} ${middle}`} />
      ))}
      <line x1={x(step.rail)} x2={x(step.rail)} y1={0} y2={step.parentId === null ? middle : ROW_HEIGHT} />
      <circle cx={x(step.rail)} cy={middle} r={4} />
    </svg>
  );
}

function Detail({
  thread,
  step,
  other,
  onCompare,
}: {
  readonly thread: Thread;
  readonly step: Step;
  readonly other: string | null;
  readonly onCompare: (id: string | undefined) => void;
}): ReactNode {
  const compared = useCheckpoint(thread.thread_id, other === step.id ? null : other);
  return (
    <div className="split-detail" role="region" aria-label="Checkpoint" tabIndex={0}>
      <div className="row detail-head">
        <h2>
          Checkpoint <span className="mono">{shortId(step.id)}</span>
        </h2>
        <CopyButton text={step.id} what="the checkpoint's id" />
        {step.state.created_at === null ? null : (
          <span className="muted small">
            <RelativeTime at={step.state.created_at} />
          </span>
        )}
      </div>
      <Actions
        thread={thread}
        step={step}
        comparing={other !== null}
        onCompare={() => onCompare(other === null ? step.id : undefined)}
      />
      {other === step.id ? <p className="muted">Select another checkpoint to compare.</p> : null}
      {compared.isError ? <Failure error={compared.error} /> : null}
      {compared.data === undefined || other === step.id ? null : (
        <section className="card state-card">
          <h3>
            From <span className="mono">{shortId(other ?? "")}</span> to{" "}
            <span className="mono">{shortId(step.id)}</span>
          </h3>
          <JsonDiff before={compared.data.values} after={step.state.values} none="The values are the same." />
        </section>
      )}
      <JsonCard title="Values" value={step.state.values} />
      {step.state.tasks.length === 0 ? null : <JsonCard title="Tasks" value={step.state.tasks} />}
      <JsonCard title="Metadata" value={step.state.metadata} openLevels={1} />
    </div>
  );
}

function Actions({
  thread,
  step,
  comparing,
  onCompare,
}: {
  readonly thread: Thread;
  readonly step: Step;
  readonly comparing: boolean;
  readonly onCompare: () => void;
}): ReactNode {
  const [forking, setForking] = useState(false);
  const refresh = useRefresh(thread.thread_id);
  const rerun = async (): Promise<void> => {
    await withToast(() => startFrom(thread, step.id), "A run continues from this checkpoint.", "green");
    await refresh();
  };
  const canRun = thread.metadata["graph_id"] !== undefined && thread.status !== "busy";
  const hasEnded = step.state.next.length === 0;
  return (
    <div className="actions">
      <Button
        kind="primary"
        needs="threads:create_run"
        disabled={!canRun || hasEnded}
        title={hasEnded ? "The graph ended here: fork instead" : undefined}
        onClick={() => void rerun()}
      >
        Re-run from here
      </Button>
      <Button needs="threads:update" disabled={!canRun} onClick={() => setForking(true)}>
        Fork from here
      </Button>
      <Button kind="quiet" hint="c" className={comparing ? "button pressed" : "button quiet"} onClick={onCompare}>
        {comparing ? "Stop comparing" : "Compare"}
      </Button>
      <CopyCurl method="POST" path={`/threads/${thread.thread_id}/runs`} body={runFrom(thread, step.id)} />
      {forking ? (
        <StateDialog thread={thread} state={step.state} kind="fork" onClose={() => setForking(false)} />
      ) : null}
    </div>
  );
}
