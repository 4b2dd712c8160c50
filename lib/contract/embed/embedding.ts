// Pages of the console inside other products: what a host page may show, what its ticket says, what the console and the frame tell each other.
// Guarantees: an origin is exact, https, or http on this machine; a ticket can ask for no more words than are known here.

import { z } from "zod";
import { embedPages, embedThemes } from "./embed-pages";
import { roles, type Role } from "../people/roles";

/** A ticket lives as long at most, and clocks may differ a little. */
export const TICKET_SECONDS = 60;
export const CLOCK_SLACK_SECONDS = 10;
/** Of a session; the frame asks for the next ticket before. */
export const EMBED_SESSION_MS = 15 * 60_000;

const loopback = /^(localhost|[\w.-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/i;

export function isOnThisMachine(hostname: string): boolean {
  return loopback.test(hostname);
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

/** A language that the console does not have is ignored when it is read. */
const languageSchema = z.string().max(20);
const givenRole = z.enum(roles).exclude(["owner"]);
const pagesSchema = z
  .array(z.enum(embedPages))
  .min(1)
  .max(embedPages.length)
  .transform((pages) => embedPages.filter((page) => pages.includes(page)));

/** `connection`: null for all that a member may use. `jwksUrl`: null where the console makes a secret. */
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
/** Of a secret, after a new one was made beside it: time to bring that to every server. */
export const OLD_SECRET_MS = 24 * 60 * 60_000;
/** `renewSecret`: whether the present one works for a day beside the new one. */
export const embedHostChangeSchema = embedHostSchema.partial().extend({ renewSecret: z.enum(["keep-old", "at-once"]).optional() });
export type RenewSecret = NonNullable<z.output<typeof embedHostChangeSchema>["renewSecret"]>;

/** Why whoever set a host page up could not do so now. It belongs to the team, and works on. */
export const keeperLosses = ["removed", "suspended", "role"] as const;

export type EmbedHostView = EmbedHostBody & {
  id: string;
  createdAt: number;
  /** The audience that a ticket must name. */
  audience: string;
  /** Who set it up last; absent where it was set up before this was recorded. */
  keptBy?: { name: string; lost?: (typeof keeperLosses)[number] };
  oldSecretUntil?: number;
  /** The last ticket that was not taken, and why: for those who may mend it. */
  refused?: { at: number; why: string };
};
/** `secret`: shown this once. */
export type EmbedHostSaved = { host: EmbedHostView; secret?: string };

/** What the host's server signs. `sub`: the address of a member, or with `guest` the host's own name for a person who is not a member. */
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
/** `leftMs`: until it ends, whatever the browser's clock says. `isSame`: the one before went on. `bearer`: where the browser keeps no cookie. */
export type EmbedSessionBegun = { leftMs: number; isSame: boolean; bearer?: string };
export const embedLookSchema = z.object({ theme: z.enum(embedThemes).optional(), language: languageSchema.optional() });

export type EmbedRole = Exclude<Role, "owner">;

/** What a stranger may hear about a host: whether this origin may frame it, and the time here. `cookie`: one came that was set a moment before. */
export const embedCheckQuerySchema = z.object({ host: z.string().max(100).default(""), origin: z.string().max(300).default("") });
export type EmbedCheck = { known: boolean; framing: boolean; cookie: boolean; now: number };
