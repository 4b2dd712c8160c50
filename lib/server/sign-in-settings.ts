// What the settings of both ways to sign in from elsewhere, OIDC and a reverse proxy, have in common: whose addresses, and who becomes a
// member with which role.

import "server-only";
import { z } from "zod";
import { roles } from "@/lib/contract/people/roles";

export type Read = <T>(name: string, schema: z.ZodType<T>, expected: string) => T | undefined;
export type Fail = (message: string) => never;

export const givenRoles = roles.filter((role) => role !== "owner");
export const signUpSchema = z.enum(["no", ...givenRoles]);
export const signUpExpected = `no, or the role of new members: ${givenRoles.join(", ")}`;

export const domainsSchema = z
  .string()
  .toLowerCase()
  .regex(/^(\*|[a-z0-9.-]+\.[a-z0-9-]+(,[a-z0-9.-]+\.[a-z0-9-]+)*)$/);
export const domainsExpected = "domains of addresses, separated by commas, or * for any";
