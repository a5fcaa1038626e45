// Root route: the parent of all pages. main.tsx adds its component, so that pages can refer to it without a cycle.
import { createRootRoute } from "@tanstack/react-router";

export const rootRoute = createRootRoute();
