// A browser in which a member signed in with the password before. Its attempts are counted apart from those of strangers, who can so keep
// nobody out (what OWASP calls device cookies). Guarantees: it lets nobody in, and counts for the account of its member alone.

import "server-only";
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { composition } from "../composition";
import { sealedCookie } from "./sealed-cookie";
import { type Sent } from "./session";

const A_YEAR_SECONDS = 365 * 24 * 60 * 60;

const device = sealedCookie("lightdesk.device", z.object({ id: z.string(), memberId: z.string() }), A_YEAR_SECONDS);

/** After a sign-in, for Set-Cookie. */
export function deviceCookie(memberId: string): Promise<string> {
  return device.write({ id: randomUUID(), memberId });
}

/** What the attempts of this browser at that account are counted by; undefined: those of strangers. */
export async function deviceOf(sent: Sent, email: string): Promise<string | undefined> {
  const kept = await device.read(sent);
  const member = kept && (await composition().store.members.getByEmail(email.trim().toLowerCase()));
  return member?.id === kept?.memberId ? kept?.id : undefined;
}
