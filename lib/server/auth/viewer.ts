// Who is asking, with which role: from the session cookie, checked against the store at each request.
// Guarantees: a disabled or removed member, a session older than the last change of role, and one
// that was signed out, is no viewer at once.
// Must never: trust a role that travels in the cookie; there is none in it.

import "server-only";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { type Failure } from "@/lib/contract/failure";
import { hasRole, type Role } from "@/lib/contract/roles";
import { composition } from "../composition";
import { type Member } from "../store/members";
import { PAGE_HEADER } from "./page-header";
import { readSession } from "./session";
import { sessionCookieName } from "./session-cookie";

export type Viewer = { memberId: string; name: string; email: string; role: Role };

export const sessionEnded: Failure = { code: "UNAUTHORIZED", message: "Your session has ended. Sign in again.", status: 401 };

export async function readViewer(cookieHeader: string | null | undefined): Promise<Viewer | undefined> {
  const { store, env, authSecret, ready } = composition();
  await ready;
  const token = readCookie(cookieHeader ?? "", sessionCookieName(env.publicUrl));
  const session = token === undefined ? undefined : await readSession({ token, secret: authSecret });
  if (session?.sub === undefined) return undefined;
  const member = await store.members.get(session.sub);
  if (!member || member.disabled || member.sessionVersion !== session.version) return undefined;
  return toViewer(member);
}

/** Why a member may not go on with what they began: removed, disabled, or of a lower role by now. Asked at each step of what takes time. */
export async function lostRights({ memberId, role }: Pick<Viewer, "memberId" | "role">): Promise<Failure | undefined> {
  const member = await composition().store.members.get(memberId);
  if (!member || member.disabled) return sessionEnded;
  if (hasRole(member.role, role)) return undefined;
  return { code: "ROLE_TOO_LOW", message: "Your role has changed.", status: 403 };
}

/** For pages: redirects to /set-up while there is no owner, else to /sign-in, which leads back to the page. */
export async function requireViewer(): Promise<Viewer> {
  const sent = await headers();
  const viewer = await readViewer(sent.get("cookie"));
  if (viewer) return viewer;
  if (!(await composition().store.members.hasOwner())) return redirect("/set-up");
  const page = sent.get(PAGE_HEADER);
  return redirect(page ? `/sign-in?callbackUrl=${encodeURIComponent(page)}` : "/sign-in");
}

export function toViewer({ id, name, email, role }: Member): Viewer {
  return { memberId: id, name, email, role };
}

function readCookie(header: string, name: string): string | undefined {
  for (const part of header.split(";")) {
    const at = part.indexOf("=");
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return undefined;
}
