// An answer against the contract's table: the status is one that the operation names, and the body is what the table says of it.
import { expect } from "vitest";
import { type Operation } from "@/lib/contract/operation";
import { type Answered } from "../support/service";

/** Names of the operations that have been answered as they should. */
export const answered = new Set<string>();

/** Returns the body as it was sent. */
export function conforms(operation: Operation, answer: Answered): unknown {
  const expected = operation.answers[answer.status];
  const said = `${operation.name} answered ${answer.status}: ${answer.text.slice(0, 500)}`;
  expect(expected, said).toBeDefined();
  if (expected?.kind === "json") expect(expected.schema.safeParse(answer.body).error?.issues, said).toBeUndefined();
  if (expected?.kind === "empty") expect(answer.text).toBe("");
  answered.add(operation.name);
  return answer.body;
}
