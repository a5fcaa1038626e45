// Empty inbox: offers the sample graph, so that newcomers see an example item.
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { call } from "../../../api/client.ts";
import { Button, EmptyState, Failure } from "../../../ui/controls.tsx";

const SAMPLE_GRAPH = "refund-approval";
const SAMPLE_INPUT = {
  messages: [{ role: "user", content: "My order 4711 arrived broken. I want my money back." }],
};

export function EmptyInbox({ filtered }: { readonly filtered: boolean }): ReactNode {
  const navigate = useNavigate();
  if (filtered) {
    return (
      <EmptyState icon="filter" title="No matching items">
        <p>These filters may hide pending items.</p>
        <Button onClick={() => void navigate({ to: "/inbox", search: {} })}>Show all pending items</Button>
      </EmptyState>
    );
  }
  return (
    <EmptyState icon="inbox" title="No pending items">
      <p>Runs that pause for an answer or at a breakpoint appear here at once.</p>
      <Sample />
    </EmptyState>
  );
}

function Sample(): ReactNode {
  const known = useQuery({
    queryKey: ["assistants", "of", SAMPLE_GRAPH],
    queryFn: ({ signal }) =>
      call<readonly unknown[]>("POST", "/assistants/search", { body: { graph_id: SAMPLE_GRAPH, limit: 1 }, signal }),
  });
  const run = useMutation({
    mutationFn: async () => {
      const thread = await call<{ readonly thread_id: string }>("POST", "/threads", { body: {} });
      await call("POST", `/threads/${thread.thread_id}/runs`, {
        body: { assistant_id: SAMPLE_GRAPH, input: SAMPLE_INPUT },
      });
    },
  });
  if (known.data === undefined || known.data.length === 0) return null;
  return (
    <>
      <Button kind="primary" disabled={run.isPending} onClick={() => run.mutate()}>
        Run the sample graph
      </Button>
      {run.error === null ? null : <Failure error={run.error} />}
    </>
  );
}
