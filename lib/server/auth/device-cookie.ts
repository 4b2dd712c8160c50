// A browser in which a member signed in with the password that they have. Its attempts are counted apart from those of strangers, who can so
// do not lock its member out (what OWASP calls device cookies). Guarantees: it signs no one in, counts for the account of its member alone, and for
// nothing once the member's sessions were ended by a new password.

import "server-only";
import { z } from "zod";
import { composition } from "../composition";
import { type Member } from "../store/people/members";
import { sealedCookie } from "./sealed-cookie";
import { type Sent } from "./session";

const A_YEAR_SECONDS = 365 * 24 * 60 * 60;

const device = sealedCookie("lightdesk.device", z.object({ memberId: z.string(), version: z.number() }), A_YEAR_SECONDS);

/** After a sign-in, for Set-Cookie. */
export function deviceCookie({ id, sessionVersion }: Member): Promise<string> {
  return device.write({ memberId: id, version: sessionVersion });
}

/** Whether its attempts at that account are a known browser's. */
export async function isDeviceOf(sent: Sent, email: string): Promise<boolean> {
  const kept = await device.read(sent);
  const member = kept && (await composition().store.members.getByEmail(email));
  return member !== undefined && member.id === kept?.memberId && member.sessionVersion === kept.version;
}
