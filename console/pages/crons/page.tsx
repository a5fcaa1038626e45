// Page Crons.
import { createLazyRoute } from "@tanstack/react-router";
import { useEffect, type ReactNode } from "react";
import { setTitle } from "../../badge.ts";
import { EmptyState } from "../../parts/controls.tsx";

export const page = createLazyRoute("/crons")({ component: CronsPage });

function CronsPage(): ReactNode {
  useEffect(() => setTitle("Crons"), []);
  return <EmptyState icon="crons" title="Crons" />;
}
