// The rules for embedding: what a host page may show and the content of its ticket. Origins are exact and https, or http for localhost.

import { z } from "zod";
import { isLoopback } from "../connections";
import { type Role, roles } from "../members/roles";
import { embedPages, embedThemes } from "./embed-pages";

export const TICKET_SECONDS = 60;
export const CLOCK_SLACK_SECONDS = 10;
export const EMBED_SESSION_MS = 15 * 60_000;

/** Browsers resolve all subdomains of `localhost` to this machine. The system resolver, which servers use, may not. */
export function isLocalHost(hostname: string): boolean {
  return isLoopback(hostname) || /^[\w.-]+\.localhost$/.test(hostname);
}

function isExactOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { origin, protocol, hostname } = new URL(text);
  return origin === text && !/[*;,\s]/.test(text) && (protocol === "https:" || (protocol === "http:" && isLocalHost(hostname)));
}

const originSchema = z
  .string()
  .trim()
  .max(300)
  .refine(isExactOrigin, "must be an origin such as https://app.example.com, without a path; http only for this machine");
const jwksUrlSchema = z
  .url({ protocol: /^https?$/ })
  .max(1000)
  .refine((text) => URL.canParse(text) && (text.startsWith("https:") || isLocalHost(new URL(text).hostname)), "must begin with https://")
  .refine((text) => !/^[a-z]+:\/\/[^/]*@/i.test(text), "must not contain a user name or password");

const languageSchema = z.string().max(20);
const grantableRole = z.enum(roles).exclude(["owner"]);
const pagesSchema = z
  .array(z.enum(embedPages))
  .min(1)
  .max(embedPages.length)
  .transform((pages) => embedPages.filter((page) => pages.includes(page)));

/** `connection` is null for all connections of the member. `jwksUrl` is null if the console creates a secret. */
export const embedHostSchema = z.object({
  name: z.string().trim().min(1).max(100),
  origins: z
    .array(originSchema)
    .min(1)
    .max(20)
    .transform((origins) => [...new Set(origins)]),
  connection: z.string().min(1).max(100).nullable(),
  role: grantableRole,
  pages: pagesSchema,
  guests: z.boolean(),
  jwksUrl: jwksUrlSchema.nullable(),
});
export type EmbedHostBody = z.output<typeof embedHostSchema>;
/** How long an old secret remains valid after a new one was created, so that the new one can be deployed. */
export const OLD_SECRET_MS = 24 * 60 * 60_000;
export const embedHostChangeSchema = embedHostSchema.partial().extend({ renewSecret: z.enum(["keep-old", "at-once"]).optional() });
export type RenewSecret = NonNullable<z.output<typeof embedHostChangeSchema>["renewSecret"]>;

export type EmbedHostView = EmbedHostBody & {
  id: string;
  createdAt: number;
  audience: string;
  /** The responsible member. `lost`: why they could not set it up now. The host page still works. */
  keptBy?: { name: string; lost?: "removed" | "suspended" | "role" };
  oldSecretUntil?: number;
  refused?: { at: number; why: string };
};
export type EmbedHostSaved = { host: EmbedHostView; secret?: string };

/** The payload that the host's server signs. `sub`: a member's email address, or the host's user id for a `guest`. */
export const ticketSchema = z.object({
  iss: originSchema,
  sub: z.string().trim().min(1).max(254),
  jti: z.string().min(8).max(200),
  iat: z.number(),
  exp: z.number(),
  guest: z.boolean().optional(),
  name: z.string().trim().min(1).max(100).optional(),
  role: z.enum(roles).exclude(["owner"]).optional(),
  pages: pagesSchema.optional(),
  connection: z.string().min(1).max(100).optional(),
  theme: z.enum(embedThemes).optional(),
  language: languageSchema.optional(),
});
export type Ticket = z.output<typeof ticketSchema>;

export const embedSessionSchema = z.object({ ticket: z.string().min(1).max(8000), origin: originSchema });
/** `leftMs`: the remaining time. `isSame`: the earlier session continues. `bearer`: for browsers without cookies. */
export type EmbedSessionStarted = { leftMs: number; isSame: boolean; bearer?: string };
export const embedAppearanceSchema = z.object({ theme: z.enum(embedThemes).optional(), language: languageSchema.optional() });

export type EmbedRole = Exclude<Role, "owner">;

/** For unauthenticated clients: whether this origin may frame the host, and the server time. `cookie`: the test cookie arrived. */
export const embedCheckQuerySchema = z.object({ host: z.string().max(100).default(""), origin: z.string().max(300).default("") });
export type EmbedCheck = { known: boolean; framing: boolean; cookie: boolean; now: number };
