// Checks a response's status and body against the contract.
import { expect } from "vitest";
import { type Operation } from "@/lib/contract/operation";
import { type ClientResponse } from "../support/service";

/** Names of the operations with at least one conforming response. */
export const coveredOperations = new Set<string>();

/** Asserts that the response conforms, and returns its body unchanged. */
export function expectConforming(operation: Operation, response: ClientResponse): unknown {
  const expected = operation.responses[response.status];
  const failureMessage = `${operation.name} responded with ${response.status}: ${response.text.slice(0, 500)}`;
  expect(expected, failureMessage).toBeDefined();
  if (expected?.kind === "json") expect(expected.schema.safeParse(response.body).error?.issues, failureMessage).toBeUndefined();
  if (expected?.kind === "empty") expect(response.text).toBe("");
  coveredOperations.add(operation.name);
  return response.body;
}
