// Entry point of pages and layouts: returns the composition and the viewer.

import "server-only";
import { headers } from "next/headers";
import { notFound, redirect } from "next/navigation";
import { type ReadOnlyView } from "@/lib/contract/console";
import { hasRole, type Role } from "@/lib/contract/members/roles";
import { addEmbedPath } from "@/lib/shared/console-paths";
import { canShowPage } from "../auth/credentials";
import { getReadOnlyState } from "../auth/read-only";
import { readViewer, type Viewer } from "../auth/viewer";
import { getComposition } from "../composition";
import { type Composition } from "../composition-type";
import { PAGE_HEADER } from "../cookies";
import { getStartPath, readEmbedAddress } from "../embed/sessions";
import { type EmbedHost } from "../store/embed";

/** `can` checks whether the viewer, or `role`, has the rights of `requiredRole`. Always false while the console is read-only. */
type PageViewer = Viewer & { readOnly: ReadOnlyView | undefined; can: (requiredRole: Role, role?: Role) => boolean };
type PageContext = { composition: Composition; viewer: PageViewer };

export async function openPublicPage(): Promise<Composition> {
  const composition = getComposition();
  await composition.ready;
  return composition;
}

/** Pages for members who only run apps. Every other page redirects them to the apps. */
const runnerPages = /^\/(apps|settings\/(account|tokens))([/?#]|$)/;

/**
 * For pages. Rejects tokens. Without a viewer, redirects to /set-up while there is no owner, otherwise to /sign-in, which redirects back.
 * `isFrame` is set by the layout. `refuseEmbedded` responds with 404 in embedded sessions.
 */
export async function openPage({ isFrame = false, refuseEmbedded = false } = {}): Promise<PageContext> {
  // During a build, this call stops the rendering.
  const requestHeaders = await headers();
  const composition = getComposition();
  const viewer = await readViewer(composition, requestHeaders);
  const page = requestHeaders.get(PAGE_HEADER) ?? "";
  const embed = readEmbedAddress(requestHeaders);
  // The start page gets a ticket from the host page, then redirects back.
  if (embed && !viewer) return redirect(getStartPath(embed, page));
  if (viewer && viewer.credential.kind !== "token") {
    if (!isFrame && !hasRole(viewer.role, "viewer") && !runnerPages.test(page)) return redirect(`${embed?.path ?? ""}/apps`);
    if (!isFrame && viewer.credential.kind === "embed" && (refuseEmbedded || !canShowPage(viewer.credential, page))) return notFound();
    const readOnly = await getReadOnlyState(composition);
    const can: PageViewer["can"] = (requiredRole, role = viewer.role) => !readOnly && hasRole(role, requiredRole);
    return { composition, viewer: { ...viewer, readOnly, can } };
  }
  // Tokens can't open pages, and the sign-in page would redirect back here.
  if (viewer) return notFound();
  if (!(await composition.store.members.hasOwner())) return redirect("/set-up");
  return redirect(page ? `/sign-in?callbackUrl=${encodeURIComponent(page)}` : "/sign-in");
}

/** Redirects to a console page. In an embedded page, the URL starts with the session's path. */
export function redirectInConsole(path: `/${string}`): never {
  return redirect(addEmbedPath(path));
}

export async function findCurrentEmbedHost(): Promise<EmbedHost | undefined> {
  const embed = readEmbedAddress(await headers());
  return embed && findEmbedHost(embed.host);
}

export async function findEmbedHost(id: string): Promise<EmbedHost | undefined> {
  return (await openPublicPage()).store.embedHosts.get(id);
}
