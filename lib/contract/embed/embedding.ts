// Embedding: what a host page may show and what its ticket says. Origins are exact and https, or http on this machine.

import { z } from "zod";
import { isLoopback } from "../connections";
import { type Role, roles } from "../people/roles";
import { embedPages, embedThemes } from "./embed-pages";

export const TICKET_SECONDS = 60;
export const CLOCK_SLACK_SECONDS = 10;
export const EMBED_SESSION_MS = 15 * 60_000;

/** Browsers take every name below `localhost` for this machine too; the system's own look-up, which servers ask, may not. */
export function isOnThisMachine(hostname: string): boolean {
  return isLoopback(hostname) || /^[\w.-]+\.localhost$/.test(hostname);
}

function isExactOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { origin, protocol, hostname } = new URL(text);
  return origin === text && !/[*;,\s]/.test(text) && (protocol === "https:" || (protocol === "http:" && isOnThisMachine(hostname)));
}

const originSchema = z
  .string()
  .trim()
  .max(300)
  .refine(isExactOrigin, "must be an origin such as https://app.example.com, without a path; http only for this machine");
const jwksUrlSchema = z
  .url({ protocol: /^https?$/ })
  .max(1000)
  .refine(
    (text) => URL.canParse(text) && (text.startsWith("https:") || isOnThisMachine(new URL(text).hostname)),
    "must begin with https://",
  )
  .refine((text) => !/^[a-z]+:\/\/[^/]*@/i.test(text), "must not contain a user name or password");

const languageSchema = z.string().max(20);
const givenRole = z.enum(roles).exclude(["owner"]);
const pagesSchema = z
  .array(z.enum(embedPages))
  .min(1)
  .max(embedPages.length)
  .transform((pages) => embedPages.filter((page) => pages.includes(page)));

/** `connection`: null: all connections that a member may use. `jwksUrl`: null: the console makes a secret. */
export const embedHostSchema = z.object({
  name: z.string().trim().min(1).max(100),
  origins: z
    .array(originSchema)
    .min(1)
    .max(20)
    .transform((origins) => [...new Set(origins)]),
  connection: z.string().min(1).max(100).nullable(),
  role: givenRole,
  pages: pagesSchema,
  guests: z.boolean(),
  jwksUrl: jwksUrlSchema.nullable(),
});
export type EmbedHostBody = z.output<typeof embedHostSchema>;
/** How long an old secret still works after a new one was made: time to bring the new one to every server. */
export const OLD_SECRET_MS = 24 * 60 * 60_000;
export const embedHostChangeSchema = embedHostSchema.partial().extend({ renewSecret: z.enum(["keep-old", "at-once"]).optional() });
export type RenewSecret = NonNullable<z.output<typeof embedHostChangeSchema>["renewSecret"]>;

export type EmbedHostView = EmbedHostBody & {
  id: string;
  createdAt: number;
  audience: string;
  /** `lost`: why that member could not set it up now; the host page keeps working. */
  keptBy?: { name: string; lost?: "removed" | "suspended" | "role" };
  oldSecretUntil?: number;
  refused?: { at: number; why: string };
};
export type EmbedHostSaved = { host: EmbedHostView; secret?: string };

/** What the host's server signs. `sub`: a member's address, or with `guest` the host's own name for a person who is not a member. */
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
/** `leftMs`: until it ends, not by the browser's clock. `isSame`: the session before continues. `bearer`: if the browser keeps no cookie. */
export type EmbedSessionStarted = { leftMs: number; isSame: boolean; bearer?: string };
export const embedLookSchema = z.object({ theme: z.enum(embedThemes).optional(), language: languageSchema.optional() });

export type EmbedRole = Exclude<Role, "owner">;

/**
 * What unauthenticated clients may learn about a host: whether this origin may frame it, and the server time. `cookie`: a test cookie was
 * returned.
 */
export const embedCheckQuerySchema = z.object({ host: z.string().max(100).default(""), origin: z.string().max(300).default("") });
export type EmbedCheck = { known: boolean; framing: boolean; cookie: boolean; now: number };
