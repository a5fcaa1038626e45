// Page Store.
import { createLazyRoute } from "@tanstack/react-router";
import { useEffect, type ReactNode } from "react";
import { setTitle } from "../../badge.ts";
import { EmptyState } from "../../parts/controls.tsx";

export const page = createLazyRoute("/store")({ component: StorePage });

function StorePage(): ReactNode {
  useEffect(() => setTitle("Store"), []);
  return <EmptyState icon="store" title="Store" />;
}
