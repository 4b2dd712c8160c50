// Personal access tokens. Expiry and connection are always explicit. Components import only types and short lists.

import { z } from "zod";
import { createPlainLine } from "../schemas/lenient";
import { type Role, roles } from "./roles";
import { tokenLifetimes } from "./sign-in";

/** `reads`: operations that change nothing in the console or on a service. A list contains names of operations. */
export const tokenOperationsSchema = z.union([z.enum(["all", "reads"]), z.array(z.string().min(1).max(100)).min(1).max(200)]);
export type TokenOperations = z.infer<typeof tokenOperationsSchema>;

const idSchema = z.string().min(1).max(200);

/** `connection` is the default. Without `connections`, all connections of the member. `days: null`: never expires. */
export const tokenBodySchema = z.object({
  name: createPlainLine(60),
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
  member: { id: string; name: string };
  role: Role;
  connection: { id: string; name?: string };
  connections?: { id: string; name?: string }[];
  operations: TokenOperations;
  state: TokenState;
  createdAt: number;
  expiresAt?: number;
  lastUsedAt?: number;
};
/** The only response that contains a token. The console stores a hash. */
export type NewTokenView = { token: string; view: TokenView };
export type TokenOperation = { name: string; call: string };
export type TokenChoices = { connections: { id: string; name: string; current: boolean }[]; operations: TokenOperation[] };
