// Page Collector.
import { createLazyRoute } from "@tanstack/react-router";
import { useEffect, type ReactNode } from "react";
import { setTitle } from "../../badge.ts";
import { EmptyState } from "../../parts/controls.tsx";

export const page = createLazyRoute("/collector")({ component: CollectorPage });

function CollectorPage(): ReactNode {
  useEffect(() => setTitle("Collector"), []);
  return <EmptyState icon="collector" title="Collector" />;
}
