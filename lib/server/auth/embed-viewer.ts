// The viewer of an embedded page's session: the member, or a guest of the host page, limited to what host and ticket grant, and to
// connections of the team.

import "server-only";
import { type EmbedLook, type EmbedPage, embedPageOf } from "@/lib/contract/embed/embed-pages";
import { type Role } from "@/lib/contract/people/roles";
import { embedAddressOf } from "@/lib/shared/console-paths";
import { composition } from "../composition";
import { type Embedded, findEmbedded, readEmbedded } from "../embed/sessions";
import { embedOperations } from "./token-operations";

/** `host`: the name of the host page. `pages`: all pages that it shows. */
export type EmbedCredential = {
  kind: "embed";
  id: string;
  host: string;
  pages: readonly EmbedPage[];
  look: EmbedLook;
  origin: string;
  leftMs: number;
};
type EmbedViewer = {
  memberId: string;
  name: string;
  email: string;
  role: Role;
  credential: EmbedCredential;
  scope: { connections: readonly string[]; operations: readonly string[] };
};

export async function viewerByEmbedding(sent: Pick<Headers, "get">): Promise<EmbedViewer | undefined> {
  const found = await readEmbedded(sent);
  return found && toViewer(found);
}

export async function viewerByEmbeddingId(id: string): Promise<EmbedViewer | undefined> {
  const found = await findEmbedded(id);
  return found && toViewer(found);
}

export function mayShow({ pages }: EmbedCredential, address: string): boolean {
  const path = embedAddressOf(address)?.rest ?? address;
  const page = embedPageOf(path);
  return page === undefined ? /^\/choose(\?|$)/.test(path) : pages.includes(page);
}

async function toViewer({ member, role, session, hostName }: Embedded): Promise<EmbedViewer> {
  const { id, pages, theme, language, origin, connectionId, expiresAt } = session;
  const { store, now } = composition();
  const leftMs = expiresAt - now();
  // Never the member's own connections: the host page alone says who the member is.
  const team = await store.connections.listFor("");
  const reached = team.map((connection) => connection.id).filter((one) => connectionId === undefined || one === connectionId);
  return {
    memberId: member.id,
    name: member.name,
    email: member.guestOf === undefined ? member.email : "",
    role,
    credential: { kind: "embed", id, host: hostName, pages, look: { theme, language }, origin, leftMs },
    scope: { connections: reached, operations: embedOperations },
  };
}
