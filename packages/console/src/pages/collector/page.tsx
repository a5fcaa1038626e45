// Page Collector: the traffic of this process's collector, its warnings, and setup for senders.
import { useQueryClient } from "@tanstack/react-query";
import { Link, createLazyRoute, getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, Suspense, lazy, useEffect, useState } from "react";
import { type About, useAbout } from "../../api/about.ts";
import { call } from "../../api/client.ts";
import { problemMessage } from "../../api/problem.ts";
import { setTitle } from "../../browser/badge.ts";
import { useShortcuts } from "../../hooks/shortcuts.ts";
import { Button, Failure, Loading } from "../../ui/controls.tsx";
import { CopyButton, CopyCurl } from "../../ui/copy.tsx";
import { guarded } from "../../ui/guarded.ts";
import { glance } from "../../json/excerpt.ts";
import { RelativeTime } from "../../ui/time.tsx";
import { showToast } from "../../ui/toast.tsx";
import { NoCollector, isAbsent } from "../../ui/unavailable.tsx";
import "./collector.css";
import { type Problem, useFigures } from "./figures.ts";
import { type RateSample, WINDOW_MS, computeRates } from "./rates.ts";
import { headersFor, listSenders } from "./senders.ts";
import { Tiles } from "./tiles.tsx";

const collectorRoute = getRouteApi("/collector");

export const page = createLazyRoute("/collector")({ component: CollectorPage });

const LineChart = lazy(() => import("../../charts/line-chart.tsx"));
const PATH = "/console/api/collector";
const MS = 1000;

function CollectorPage(): ReactNode {
  useEffect(() => setTitle("Collector"), []);
  const about = useAbout();
  return (
    <>
      <header className="page-header">
        <h1>Collector</h1>
        {about.data?.collector == null ? null : (
          <>
            <code className="muted">{about.data.collector.url}/v1/traces</code>
            <CopyButton text={`${about.data.collector.url}/v1/traces`} what="the address" />
            <span className="row spread">
              <CopyCurl method="GET" path={PATH} />
              <SendSample hasStore={about.data.traces} />
            </span>
          </>
        )}
      </header>
      {about.isPending ? (
        <Loading />
      ) : about.isError && !isAbsent(about.error) ? (
        <Failure error={about.error} onRetry={() => void about.refetch()} />
      ) : about.data?.collector == null ? (
        <NoCollector />
      ) : (
        <Running url={about.data.collector.url} about={about.data} />
      )}
    </>
  );
}

function SendSample({ hasStore }: { readonly hasStore: boolean }): ReactNode {
  const [sending, setSending] = useState(false);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const send = async (): Promise<void> => {
    setSending(true);
    try {
      const { trace_id: traceId } = await call<{ readonly trace_id: string }>("POST", `${PATH}/sample`);
      const open = (): void => void navigate({ to: "/traces/$traceId", params: { traceId } });
      showToast("The collector accepted a sample span.", {
        tone: "green",
        actions: hasStore ? [{ label: "See its trace", run: open }] : [],
      });
      await queries.invalidateQueries({ queryKey: ["traces"] });
    } catch (error) {
      showToast(problemMessage(error), { tone: "red", ms: null });
    }
    setSending(false);
  };
  useShortcuts("Collector", [
    { keys: "s", label: "Send a sample span", run: guarded("threads:create", () => void send()) },
  ]);
  return (
    <Button kind="primary" hint="s" needs="threads:create" disabled={sending} onClick={() => void send()}>
      Send a sample span
    </Button>
  );
}

function Running({ url, about }: { readonly url: string; readonly about: About }): ReactNode {
  const { figures, problems, moments, error, isPending, retry } = useFigures();
  if (isPending) return <Loading />;
  return (
    <div className="page-body collector">
      {error === null ? null : <Failure error={error} onRetry={retry} />}
      <Tiles figures={figures} moments={moments} />
      <Chart moments={moments} />
      <Problems problems={problems} />
      <Senders url={url} about={about} />
    </div>
  );
}

function Chart({ moments }: { readonly moments: readonly RateSample[] }): ReactNode {
  const times = moments.slice(1).map(({ at }) => at / MS);
  return (
    <section className="card collector-part" aria-labelledby="collector-chart">
      <header className="row chart-head">
        <h2 id="collector-chart">Spans per second</h2>
        <span className="chart-key in">in</span>
        <span className="chart-key out">out</span>
        <span className="muted small spread">Last 15 minutes (recorded while this page is open)</span>
      </header>
      {times.length === 0 ? (
        <Loading label="Waiting for a second sample" />
      ) : (
        <Suspense fallback={<Loading />}>
          <LineChart
            times={times}
            windowSecs={WINDOW_MS / MS}
            label="Spans received and uploaded per second; the figures above are the current values"
            lines={[
              { name: "in", colour: "--accent", values: computeRates(moments, "received") },
              { name: "out", colour: "--green", values: computeRates(moments, "sent") },
            ]}
          />
        </Suspense>
      )}
    </section>
  );
}

function Problems({ problems }: { readonly problems: readonly Problem[] | null }): ReactNode {
  return (
    <section className="card collector-part" aria-labelledby="collector-problems">
      <h2 id="collector-problems">Recent warnings</h2>
      {problems === null ? (
        <p className="muted">The collector runs in another process: its own log has them.</p>
      ) : problems.length === 0 ? (
        <p className="muted">No warnings since the start.</p>
      ) : (
        <ul className="problems">
          {problems.map(({ at, event, fields }, index) => (
            <li key={`${at} ${index}`}>
              <span className="muted">
                <RelativeTime at={at} />
              </span>
              <code>{event}</code>
              <span className="problem-fields">
                {Object.entries(fields)
                  .map(([name, value]) => `${name}: ${glance(value, 400)}`)
                  .join(" · ")}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Senders({ url, about }: { readonly url: string; readonly about: About }): ReactNode {
  const { sender } = collectorRoute.useSearch();
  const senders = listSenders(url, headersFor(about.settings));
  const chosen = senders.find(({ id }) => id === sender) ?? senders[0];
  if (chosen === undefined) return null;
  return (
    <section className="card collector-part" aria-labelledby="collector-senders">
      <h2 id="collector-senders">Send traces here</h2>
      <nav className="tabs" aria-label="Senders">
        {senders.map(({ id, name }) => (
          <Link
            key={id}
            to="/collector"
            search={{ sender: id }}
            replace
            resetScroll={false}
            className="tab"
            activeProps={{}}
            aria-current={id === chosen.id ? "page" : undefined}
          >
            {name}
          </Link>
        ))}
      </nav>
      <div className="snippet">
        <pre tabIndex={0} aria-label={`For ${chosen.name}`}>
          {chosen.text}
        </pre>
        <CopyButton text={chosen.text} what={`the lines for ${chosen.name}`} />
      </div>
    </section>
  );
}
