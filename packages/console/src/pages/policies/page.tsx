// Page Policies: answers in advance. What each says, what it would have answered so far, its revocation.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { createLazyRoute } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { PolicyObject } from "@holdpoint/api/policies.ts";
import { shortId } from "@holdpoint/api/text/short-id.ts";
import { call, request } from "../../api/client.ts";
import { DeleteDialog } from "../../frames/delete-dialog.tsx";
import { PageHeader } from "../../frames/list-page.tsx";
import { useShortcuts } from "../../hooks/shortcuts.ts";
import { Button, Chip, EmptyState, Failure, Loading } from "../../ui/controls.tsx";
import { absoluteTime } from "../../ui/format.ts";
import { guarded } from "../../ui/guarded.ts";
import { withToast } from "../../ui/with-toast.ts";
import { PolicyDialog } from "./policy-dialog.tsx";
import { DryRun } from "./dry-run.tsx";
import "./policies.css";

export const page = createLazyRoute("/policies")({ component: PoliciesPage });

const KEY = ["policies"];
const REFRESH_MS = 10_000;

function PoliciesPage(): ReactNode {
  const [making, setMaking] = useState(false);
  const policies = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => call<{ readonly policies: readonly PolicyObject[] }>("GET", "/policies", { signal }),
    refetchInterval: REFRESH_MS,
  });
  const make = guarded("policies:create", () => setMaking(true));
  useShortcuts("Policies", [{ keys: "n", label: "New policy", run: make }]);
  return (
    <>
      <PageHeader
        title="Policies"
        call={{ method: "GET", path: "/policies" }}
        create={{ label: "New policy", needs: "policies:create", run: make }}
      />
      <div className="page-body">
        {policies.isPending ? (
          <Loading />
        ) : policies.isError ? (
          <Failure error={policies.error} onRetry={() => void policies.refetch()} />
        ) : (
          <List policies={policies.data.policies} />
        )}
      </div>
      {making ? <PolicyDialog onClose={() => setMaking(false)} /> : null}
    </>
  );
}

function List({ policies }: { readonly policies: readonly PolicyObject[] }): ReactNode {
  if (policies.length === 0)
    return (
      <EmptyState icon="policies" title="No policies yet">
        <p>
          A policy answers later questions that fit it. Choose <em>Remember this answer</em> at an item of the inbox, or
          press <kbd className="key">n</kbd>.
        </p>
      </EmptyState>
    );
  return (
    <ul className="card policies" aria-label="Policies">
      {policies.map((policy) => (
        <Row key={policy.policy_id} policy={policy} />
      ))}
    </ul>
  );
}

function Row({ policy }: { readonly policy: PolicyObject }): ReactNode {
  const [open, setOpen] = useState<"dry-run" | "revoke" | null>(null);
  const queries = useQueryClient();
  const { policy_id: id, source, when, answer, until, created_by: by, created_at: at, administrator } = policy;
  const path = `/policies/${id}`;
  const revoke = async (): Promise<void> => {
    setOpen(null);
    await withToast(() => request("DELETE", path), "Policy revoked.");
    await queries.invalidateQueries({ queryKey: KEY });
  };
  return (
    <li>
      <div className="row policy-head">
        <strong>{formatAnswer(answer)}</strong>
        {administrator ? <Chip>administrator</Chip> : null}
        <span className="muted spread">
          {source === "stored" ? `${by}, ${absoluteTime(Date.parse(at ?? ""))}` : source}
          {until === null ? "" : `, until ${absoluteTime(Date.parse(until))}`}
        </span>
      </div>
      <ul className="policy-when" aria-label="Conditions">
        {Object.entries(when).map(([name, tests]) => (
          <li key={name}>
            <code>{formatCondition(name, tests)}</code>
          </li>
        ))}
      </ul>
      <div className="actions">
        <Button pressed={open === "dry-run"} onClick={() => setOpen(open === "dry-run" ? null : "dry-run")}>
          Dry run
        </Button>
        {source === "stored" ? (
          <Button kind="danger" needs="policies:delete" onClick={() => setOpen("revoke")}>
            Revoke
          </Button>
        ) : null}
        <span className="muted spread">{shortId(id)}</span>
      </div>
      {open === "dry-run" ? <DryRun rule={{ when, answer }} /> : null}
      {open === "revoke" ? (
        <DeleteDialog
          title="Revoke this policy?"
          description="After that it answers nothing. Answers that it gave stay."
          call={{ path }}
          label="Revoke"
          onDelete={() => void revoke()}
          onClose={() => setOpen(null)}
        />
      ) : null}
    </li>
  );
}

const SIGNS: Readonly<Record<string, string>> = { eq: "=", lt: "<", lte: "≤", gt: ">", gte: "≥", in: "in" };

/** `args.amount ≤ 50`. */
function formatCondition(path: string, tests: unknown): string {
  return Object.entries(tests as object)
    .map(([operator, value]: [string, unknown]) =>
      operator === "exists"
        ? `${path} ${value === true ? "exists" : "is missing"}`
        : `${path} ${SIGNS[operator] ?? operator} ${JSON.stringify(value)}`,
    )
    .join(", ");
}

function formatAnswer(answer: unknown): string {
  if (answer === "approve") return "Approve";
  if (answer === "reject") return "Reject";
  const value = JSON.stringify((answer as { readonly value?: unknown }).value ?? null);
  return `Answer ${value.length > 200 ? `${value.slice(0, 200)}…` : value}`;
}
