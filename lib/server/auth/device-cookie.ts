// Marks a browser in which a member signed in with their current password. Its attempts are counted apart from those of strangers, who
// therefore cannot lock the member out (OWASP: device cookies). Guarantees: it signs no one in, counts only for its member's account, and
// becomes worthless when a new password ends the member's sessions.

import "server-only";
import { z } from "zod";
import { composition } from "../composition";
import { type Member } from "../store/people/members";
import { sealedCookie } from "./sealed-cookie";
import { type Sent } from "./session";

const A_YEAR_SECONDS = 365 * 24 * 60 * 60;

const device = sealedCookie("lightdesk.device", z.object({ memberId: z.string(), version: z.number() }), A_YEAR_SECONDS);

/** The value for Set-Cookie after a sign-in. */
export function deviceCookie({ id, sessionVersion }: Member): Promise<string> {
  return device.write({ memberId: id, version: sessionVersion });
}

/** Whether attempts at that account come from a browser the member has used. */
export async function isDeviceOf(sent: Sent, email: string): Promise<boolean> {
  const kept = await device.read(sent);
  const member = kept && (await composition().store.members.getByEmail(email));
  return member !== undefined && member.id === kept?.memberId && member.sessionVersion === kept.version;
}
