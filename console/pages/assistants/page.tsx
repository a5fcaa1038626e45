// Page Assistants.
import { createLazyRoute } from "@tanstack/react-router";
import { useEffect, type ReactNode } from "react";
import { setTitle } from "../../badge.ts";
import { EmptyState } from "../../parts/controls.tsx";

export const page = createLazyRoute("/assistants")({ component: AssistantsPage });

function AssistantsPage(): ReactNode {
  useEffect(() => setTitle("Assistants"), []);
  return <EmptyState icon="assistants" title="Assistants" />;
}
