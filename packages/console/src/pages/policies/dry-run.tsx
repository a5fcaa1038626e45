// Dry run: what a rule would have answered among the last decisions of people.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { call } from "../../api/client.ts";
import { Failure, Loading } from "../../ui/controls.tsx";

interface Found {
  readonly text: string;
  readonly others: readonly {
    readonly thread_id: string;
    readonly interrupt_id: string;
    readonly title: string;
    readonly by: string;
  }[];
}

export function DryRun({ rule }: { readonly rule: Readonly<Record<string, unknown>> }): ReactNode {
  const found = useQuery({
    queryKey: ["policies", "dry-run", rule],
    queryFn: ({ signal }) => call<Found>("POST", "/policies/dry-run", { body: rule, signal }),
    retry: false,
  });
  if (found.isPending) return <Loading label="Looking at the last decisions" />;
  if (found.isError) return <Failure error={found.error} />;
  const { text, others } = found.data;
  return (
    <div className="dry-run" role="status">
      <p>{text}</p>
      {others.length === 0 ? null : (
        <>
          <p className="muted">People had given another answer to:</p>
          <ul>
            {others.map(({ thread_id: threadId, interrupt_id: itemId, title, by }) => (
              <li key={`${threadId} ${itemId}`}>
                <Link to="/threads/$threadId" params={{ threadId }}>
                  {title}
                </Link>{" "}
                <span className="muted">{by}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
