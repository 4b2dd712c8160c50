// Checks a response against the contract's table: status and body schema.
import { expect } from "vitest";
import { type Operation } from "@/lib/contract/operation";
import { type ClientResponse } from "../support/service";

/** Names of the correctly answered operations. */
export const answered = new Set<string>();

/** Returns the body as it was sent. */
export function conforms(operation: Operation, response: ClientResponse): unknown {
  const expected = operation.answers[response.status];
  const outcome = `${operation.name} answered ${response.status}: ${response.text.slice(0, 500)}`;
  expect(expected, outcome).toBeDefined();
  if (expected?.kind === "json") expect(expected.schema.safeParse(response.body).error?.issues, outcome).toBeUndefined();
  if (expected?.kind === "empty") expect(response.text).toBe("");
  answered.add(operation.name);
  return response.body;
}
