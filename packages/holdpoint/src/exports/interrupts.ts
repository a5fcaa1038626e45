// Interrupts: `import { approval, choice, form } from "holdpoint/interrupts"`: requests to people, and their typed
// answers.
// Rules:
//   - The payload is in the dialect that the inbox shows best (packages/api/src/dialects.ts); other clients of these
//     dialects read it, too.
//   - Each request carries the JSON Schema of its answer: the server rejects an answer that does not match, and the
//     interrupt stays open. The node checks the answer again, with the schema itself.
//   - A graph that uses these files runs on any server: they import nothing of this one.
export { approval, type Approval, type ApprovalOptions, type DecisionType } from "./interrupts/approval.ts";
export { type Ask, type InterruptFunction, InvalidAnswerError } from "./interrupts/ask.ts";
export { choice, type ChoiceOptions, type ChoicesOptions } from "./interrupts/choice.ts";
export type { Deadline } from "./interrupts/deadline.ts";
export type { Priority, Review } from "./interrupts/review.ts";
export { form, type FormOptions } from "./interrupts/form.ts";
export type { AnswerSchema, JsonSchema } from "./interrupts/answer-schema.ts";
