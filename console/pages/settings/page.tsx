// Page Settings.
import { createLazyRoute } from "@tanstack/react-router";
import { useEffect, type ReactNode } from "react";
import { setTitle } from "../../badge.ts";
import { EmptyState } from "../../parts/controls.tsx";

export const page = createLazyRoute("/settings")({ component: SettingsPage });

function SettingsPage(): ReactNode {
  useEffect(() => setTitle("Settings"), []);
  return <EmptyState icon="settings" title="Settings" />;
}
