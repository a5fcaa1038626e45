// With toast: runs a call of the user and shows its success or its error.
import { problemMessage } from "../api/problem.ts";
import type { Tone } from "./controls.tsx";
import { showToast } from "./toast.tsx";

/** @param done the text after success @returns false after an error */
export async function withToast(work: () => Promise<unknown>, done: string, tone: Tone = "neutral"): Promise<boolean> {
  try {
    await work();
    showToast(done, { tone });
    return true;
  } catch (error) {
    showToast(problemMessage(error), { tone: "red" });
    return false;
  }
}
