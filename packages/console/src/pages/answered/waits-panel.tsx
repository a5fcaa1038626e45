// Waits panel: how long questions waited for their answers, by graph, by action and by group of the people who
// answered, from the newest entries of the trail.
import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import type { FoundAuditEntry } from "@holdpoint/api/audit.ts";
import { call } from "../../api/client.ts";
import { usePeople } from "../../data/people.ts";
import { countInbox } from "../../data/inbox/calls.ts";
import { Visible } from "../../text/visible.tsx";
import { Button, Failure, Loading } from "../../ui/controls.tsx";
import { count, duration } from "../../ui/format.ts";
import { saveFile } from "../../ui/save-file.ts";
import { buildSearch, type AnsweredFilters } from "./query.ts";
import { formatCsv, groupWaits, type Waits } from "./waits.ts";

const PAGES_MAX = 5;
const PAGE_ITEMS = 200;

interface Page {
  readonly items: readonly FoundAuditEntry[];
  readonly next_cursor: string | null;
}

/** @param filters of the page */
export function WaitsPanel({ filters }: { readonly filters: AnsweredFilters }): ReactNode {
  const [open, setOpen] = useState(false);
  const { data, error } = useQuery({
    queryKey: ["waits", filters],
    enabled: open,
    async queryFn({ signal }) {
      const entries: FoundAuditEntry[] = [];
      let cursor: string | null = null;
      for (let page = 0; page < PAGES_MAX && (page === 0 || cursor !== null); page++) {
        const wanted = { ...buildSearch(filters, Date.now()), action: "answered", limit: PAGE_ITEMS, cursor };
        const found: Page = await call("GET", "/audit", { query: wanted, signal });
        entries.push(...found.items);
        cursor = found.next_cursor;
      }
      return { entries, overdue: (await countInbox({ deadline: "overdue" }, signal)).count };
    },
  });
  const people = usePeople();
  const memberships = new Map(people.map(({ name, groups: own }) => [name, own]));
  const entries = data?.entries ?? [];
  const groups = [
    ["graph", groupWaits(entries, ({ graph_id: graph }) => [graph])],
    ["action", groupWaits(entries, ({ tool }) => [tool])],
    ["group", groupWaits(entries, ({ by }) => memberships.get(by) ?? [])],
  ] as const;
  return (
    <details className="fold waits" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Waits: how long questions wait, and how often they are approved</summary>
      {error === null ? null : <Failure error={error} />}
      {data === undefined && error === null && open ? <Loading /> : null}
      {data === undefined ? null : (
        <div className="stack">
          <p className="row">
            <span>
              Answers: the newest {count(data.entries.length)}. Overdue questions: {count(data.overdue)}.
            </span>
            <span className="spread">
              <Button kind="quiet" onClick={() => saveFile(new Blob([formatCsv(groups)]), "waits.csv")}>
                Save waits as CSV
              </Button>
            </span>
          </p>
          <div className="waits-charts">
            {groups.map(([by, waits]) => (
              <Chart key={by} by={by} waits={waits} />
            ))}
          </div>
        </div>
      )}
    </details>
  );
}

function Chart({ by, waits }: { readonly by: string; readonly waits: readonly Waits[] }): ReactNode {
  const longest = Math.max(1, ...waits.map(({ p90 }) => p90));
  if (waits.length === 0) return null;
  return (
    <div className="table-scroller" role="region" aria-label={`Waits by ${by}`} tabIndex={0}>
      <table className="value-rows">
        <thead>
          <tr>
            <th scope="col">{by}</th>
            <th scope="col">answers</th>
            <th scope="col">half within</th>
            <th scope="col">90 % within</th>
            <th scope="col">approved</th>
          </tr>
        </thead>
        <tbody>
          {waits.map(({ name, count: answers, median, p90, approved }) => (
            <tr key={name}>
              <td>
                <bdi>
                  <Visible text={name} />
                </bdi>
              </td>
              <td className="numeric">{count(answers)}</td>
              <td className="numeric">{duration(median)}</td>
              <td className="numeric wait-cell">
                <span
                  className="wait-bar"
                  style={{ width: `${Math.round((100 * p90) / longest)}%` }}
                  aria-hidden="true"
                />
                <span>{duration(p90)}</span>
              </td>
              <td className="numeric">{approved === null ? "–" : `${Math.round(approved * 100)} %`}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
