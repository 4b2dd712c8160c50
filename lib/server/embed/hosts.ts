// Host pages as an admin sets them up: where they are, how far their tickets reach, the secret that signs these.
// Guarantees: a secret is made here, shown once and kept sealed; whoever sets up a host gives it no more than they have, and a connection
// of the team.

import "server-only";
import { randomBytes } from "node:crypto";
import { type z } from "zod";
import { type EmbedHostBody, type embedHostChangeSchema, type EmbedHostSaved, type EmbedHostView } from "@/lib/contract/embedding";
import { type Failure } from "@/lib/contract/failure";
import { hasRole, type Role } from "@/lib/contract/roles";
import { failed, ok, type Result } from "@/lib/shared/result";
import { composition } from "../composition";
import { seal } from "../keys/cipher";
import { type SealedRows } from "../keys/rotate";
import { type EmbedHost, type EmbedHostStore, newEmbedHostId } from "../store/embed-hosts";
import { type Sealed } from "../store/keys";
import { audiencesOf } from "./addresses";
import { recordOfHost } from "./host-keys";

type Giver = { role: Role };

export async function listEmbedHosts(): Promise<EmbedHostView[]> {
  return (await composition().store.embedHosts.list()).map(toView);
}

export async function createEmbedHost(giver: Giver, body: EmbedHostBody): Promise<Result<EmbedHostSaved, Failure>> {
  const { store, now } = composition();
  const refused = await judge(giver, body);
  if (refused) return failed(refused);
  const id = newEmbedHostId();
  const made = body.jwksUrl === null ? makeSecret(id) : undefined;
  const host = await store.embedHosts.create(id, body, made?.sealed, now());
  return ok({ host: toView(host), ...(made && { secret: made.secret }) });
}

export async function changeEmbedHost(
  giver: Giver,
  id: string,
  { renewSecret, ...change }: z.output<typeof embedHostChangeSchema>,
): Promise<Result<EmbedHostSaved, Failure>> {
  const { store } = composition();
  const before = await store.embedHosts.get(id);
  if (!before) return failed(noSuchHost);
  const body = { ...before, ...change };
  const refused = await judge(giver, body);
  if (refused) return failed(refused);
  const made = body.jwksUrl === null && (renewSecret || !before.sealed) ? makeSecret(id) : undefined;
  const sealed = body.jwksUrl === null ? (made?.sealed ?? before.sealed) : undefined;
  const host = await store.embedHosts.change(id, body, sealed);
  return host ? ok({ host: toView(host), ...(made && { secret: made.secret }) }) : failed(noSuchHost);
}

export async function removeEmbedHost(id: string): Promise<Result<string, Failure>> {
  const { store } = composition();
  const host = await store.embedHosts.get(id);
  return host && (await store.embedHosts.remove(id)) ? ok(host.name) : failed(noSuchHost);
}

/** For sealing them again. */
export function sealedHosts(hosts: Pick<EmbedHostStore, "list" | "reseal">): SealedRows<EmbedHost & { sealed: Sealed }> {
  return {
    list: async () => (await hosts.list()).flatMap((host) => (host.sealed ? [{ ...host, sealed: host.sealed }] : [])),
    recordOf: ({ id }) => recordOfHost(id),
    sealedOf: ({ sealed }) => sealed,
    reseal: (host, after) => hosts.reseal(host, after),
  };
}

async function judge({ role }: Giver, body: EmbedHostBody): Promise<Failure | undefined> {
  if (!hasRole(role, body.role)) return { code: "ROLE_TOO_LOW", message: "Your role does not allow this.", status: 403 };
  // Asked for nobody: only those of the team.
  if (body.connection !== null && !(await composition().store.connections.getFor("", body.connection))) return noTeamConnection;
  return undefined;
}

function makeSecret(id: string): { secret: string; sealed: Sealed } {
  const secret = randomBytes(32).toString("base64url");
  return { secret, sealed: seal(composition().ring, recordOfHost(id), secret) };
}

function toView(host: EmbedHost): EmbedHostView {
  const { id, name, origins, connection, role, pages, guests, jwksUrl, createdAt, refused } = host;
  const audience = audiencesOf(composition().env, id)[0] ?? "";
  return { id, name, origins, connection, role, pages, guests, jwksUrl, createdAt, audience, ...(refused && { refused }) };
}

const noSuchHost: Failure = { code: "NOT_FOUND", message: "There is no such host page.", status: 404 };
const noTeamConnection: Failure = {
  code: "INVALID_BODY",
  message: "connection: is not one of the team's",
  status: 400,
  details: [{ path: "connection", message: "is not one of the team's" }],
};
