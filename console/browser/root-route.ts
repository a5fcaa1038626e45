// Root route: what all pages hang from. Its look is put on in router.ts, so that pages can name it without a cycle.
import { createRootRoute } from "@tanstack/react-router";

export const rootRoute = createRootRoute();
