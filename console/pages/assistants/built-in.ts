// Built in: the assistant that a graph comes with, which nobody can change.
import type { Assistant } from "../../api/types.ts";

export const isBuiltIn = ({ metadata }: Assistant): boolean => metadata["created_by"] === "system";
