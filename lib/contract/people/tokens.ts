// Personal access tokens: what one is made of and how it may be shown. The token itself is in no type here but the answer that makes it.
// Guarantees: an expiry and a connection are chosen, never left out by mistake. Components import the types and the short lists only.

import { z } from "zod";
import { toPlainLine } from "../plain-line";
import { type Role, roles } from "./roles";
import { tokenLifetimes } from "./token-choices";

/** `reads`: what changes nothing, here and at a service. A list names operations of the interface. */
export const tokenOperationsSchema = z.union([z.enum(["all", "reads"]), z.array(z.string().min(1).max(100)).min(1).max(200)]);
export type TokenOperations = z.infer<typeof tokenOperationsSchema>;

const idSchema = z.string().min(1).max(200);

/** `connection`: the one that is meant where a request names none. `connections`: absent, all that the member may use. `days`: null is never. */
export const tokenBodySchema = z.object({
  name: z.string().max(1000).transform(toPlainLine).pipe(z.string().trim().min(1).max(60)),
  role: z.enum(roles),
  connection: idSchema,
  connections: z.array(idSchema).min(1).max(200).optional(),
  operations: tokenOperationsSchema,
  days: z.union([z.literal(tokenLifetimes), z.null()]),
});
export type TokenBody = z.infer<typeof tokenBodySchema>;

export type TokenState = "active" | "expired" | "revoked";
export type TokenView = {
  id: string;
  name: string;
  /** Whose rights it has. */
  member: { id: string; name: string };
  /** What it may at most; a member who was lowered since makes it less. */
  role: Role;
  /** Without a name: gone, or another member's own. */
  connection: { id: string; name?: string };
  /** Absent: all. */
  connections?: { id: string; name?: string }[];
  operations: TokenOperations;
  state: TokenState;
  createdAt: number;
  /** Absent: it never expires. */
  expiresAt?: number;
  lastUsedAt?: number;
};
/** The one answer that holds a token; the console keeps a hash. */
export type TokenMade = { token: string; view: TokenView };
/** An operation that a token may be limited to, and how it is called. */
export type TokenOperation = { name: string; call: string };
export type TokenChoices = { connections: { id: string; name: string; current: boolean }[]; operations: TokenOperation[] };
