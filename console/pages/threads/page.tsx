// Page Threads.
import { createLazyRoute } from "@tanstack/react-router";
import { useEffect, type ReactNode } from "react";
import { setTitle } from "../../badge.ts";
import { EmptyState } from "../../parts/controls.tsx";

export const page = createLazyRoute("/threads")({ component: ThreadsPage });

function ThreadsPage(): ReactNode {
  useEffect(() => setTitle("Threads"), []);
  return <EmptyState icon="threads" title="Threads" />;
}
