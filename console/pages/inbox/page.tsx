// Page Inbox.
import { createLazyRoute } from "@tanstack/react-router";
import { useEffect, type ReactNode } from "react";
import { setTitle } from "../../badge.ts";
import { EmptyState } from "../../parts/controls.tsx";

export const page = createLazyRoute("/inbox")({ component: InboxPage });

function InboxPage(): ReactNode {
  useEffect(() => setTitle("Inbox"), []);
  return <EmptyState icon="inbox" title="Nothing is waiting" />;
}
