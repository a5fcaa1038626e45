// Built in: the read-only assistant of each graph.
import type { Assistant } from "../../api/types.ts";

export const isBuiltIn = ({ metadata }: Assistant): boolean => metadata["created_by"] === "system";
