// Page Traces.
import { createLazyRoute } from "@tanstack/react-router";
import { useEffect, type ReactNode } from "react";
import { setTitle } from "../../badge.ts";
import { EmptyState } from "../../parts/controls.tsx";

export const page = createLazyRoute("/traces")({ component: TracesPage });

function TracesPage(): ReactNode {
  useEffect(() => setTitle("Traces"), []);
  return <EmptyState icon="traces" title="Traces" />;
}
