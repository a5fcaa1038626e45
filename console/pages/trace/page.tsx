// Page Trace.
import { createLazyRoute } from "@tanstack/react-router";
import type { ReactNode } from "react";

export const page = createLazyRoute("/traces/$traceId")({ component: TracePage });

function TracePage(): ReactNode {
  return null;
}
