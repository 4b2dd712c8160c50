// Entry point of pages and layouts: returns the composition and the viewer.

import "server-only";
import { headers } from "next/headers";
import { notFound, redirect } from "next/navigation";
import { type ReadOnlyView } from "@/lib/contract/console";
import { hasRole, type Role } from "@/lib/contract/people/roles";
import { addEmbedPath } from "@/lib/shared/console-paths";
import { canShowPage } from "../auth/credentials";
import { readReadOnly } from "../auth/read-only";
import { readViewer, type Viewer } from "../auth/viewer";
import { composition } from "../composition";
import { type Composition } from "../composition-type";
import { PAGE_HEADER } from "../cookies";
import { readEmbedAddress, startPath } from "../embed/sessions";
import { type EmbedHost } from "../store/embed";

/** `can` checks if the viewer, or `role`, may do what requires `needed`. Always false while the console is read-only. */
type PageViewer = Viewer & { readOnly: ReadOnlyView | undefined; can: (needed: Role, role?: Role) => boolean };
type PageContext = { composition: Composition; viewer: PageViewer };

export async function openVisitorPage(): Promise<Composition> {
  const current = composition();
  await current.ready;
  return current;
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
  const current = composition();
  const viewer = await readViewer(current, requestHeaders);
  const page = requestHeaders.get(PAGE_HEADER) ?? "";
  const embed = readEmbedAddress(requestHeaders);
  // The start page gets a ticket from the host page, then redirects back.
  if (embed && !viewer) return redirect(startPath(embed, page));
  if (viewer && viewer.credential.kind !== "token") {
    if (!isFrame && !hasRole(viewer.role, "viewer") && !runnerPages.test(page)) return redirect(`${embed?.path ?? ""}/apps`);
    if (!isFrame && viewer.credential.kind === "embed" && (refuseEmbedded || !canShowPage(viewer.credential, page))) return notFound();
    const readOnly = await readReadOnly(current);
    const can: PageViewer["can"] = (needed, role = viewer.role) => !readOnly && hasRole(role, needed);
    return { composition: current, viewer: { ...viewer, readOnly, can } };
  }
  // Tokens can't open pages, and the sign-in page would redirect back here.
  if (viewer) return notFound();
  if (!(await current.store.members.hasOwner())) return redirect("/set-up");
  return redirect(page ? `/sign-in?callbackUrl=${encodeURIComponent(page)}` : "/sign-in");
}

/** Redirects to a page of the console; in an embedded page, below its session's path. */
export function redirectInConsole(path: `/${string}`): never {
  return redirect(addEmbedPath(path));
}

export async function findCurrentHost(): Promise<EmbedHost | undefined> {
  const embed = readEmbedAddress(await headers());
  return embed && findHost(embed.host);
}

export async function findHost(id: string): Promise<EmbedHost | undefined> {
  return (await openVisitorPage()).store.embedHosts.get(id);
}
