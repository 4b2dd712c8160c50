// Host pages, which admins set up. A secret is created here, shown once and stored encrypted.

import "server-only";
import { randomBytes } from "node:crypto";
import { type z } from "zod";
import {
  type EmbedHostBody,
  type embedHostChangeSchema,
  type EmbedHostSaved,
  type EmbedHostView,
  OLD_SECRET_MS,
} from "@/lib/contract/embed/embedding";
import { createFailure, createFieldFailure, type Failure } from "@/lib/contract/failure";
import { hasRole, type Role } from "@/lib/contract/members/roles";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Composition, type Dependencies } from "../composition-type";
import { seal } from "../keys/key-ring";
import { type Sealed, toSecretRecordId } from "../store/connections";
import { createEmbedHostId, type EmbedHost, type HostEditor } from "../store/embed";
import { getAudiences } from "./sessions";

type EmbedKeyOwner = { memberId: string; name: string; role: Role };

export async function listEmbedHosts(composition: Composition): Promise<EmbedHostView[]> {
  return Promise.all((await composition.store.embedHosts.list()).map((host) => toEmbedHostView(composition, host)));
}

export async function createEmbedHost(
  composition: Composition,
  owner: EmbedKeyOwner,
  body: EmbedHostBody,
): Promise<Result<EmbedHostSaved, Failure>> {
  const { store, now } = composition;
  const failure = await checkHostBody(composition, owner, body);
  if (failure) return failed(failure);
  const id = createEmbedHostId();
  const newSecret = body.jwksUrl === null ? createSecret(composition, id) : undefined;
  const host = await store.embedHosts.create(id, body, { sealed: newSecret?.sealed, old: undefined, keptBy: toHostEditor(owner) }, now());
  return ok({ host: await toEmbedHostView(composition, host), ...(newSecret && { secret: newSecret.secret }) });
}

export async function changeEmbedHost(
  composition: Composition,
  owner: EmbedKeyOwner,
  id: string,
  { renewSecret, ...change }: z.output<typeof embedHostChangeSchema>,
): Promise<Result<EmbedHostSaved, Failure>> {
  const { store, now } = composition;
  const previousHost = await store.embedHosts.get(id);
  if (!previousHost) return failed(hostNotFoundFailure);
  const body = { ...previousHost, ...change };
  const failure = await checkHostBody(composition, owner, body);
  if (failure) return failed(failure);
  const usesSecret = body.jwksUrl === null;
  const newSecret = usesSecret && (renewSecret || !previousHost.sealed) ? createSecret(composition, id) : undefined;
  const sealed = usesSecret ? (newSecret?.sealed ?? previousHost.sealed) : undefined;
  const replacedSecret =
    renewSecret === "keep-old" && previousHost.sealed ? { sealed: previousHost.sealed, until: now() + OLD_SECRET_MS } : undefined;
  const oldSecret = usesSecret ? (renewSecret ? replacedSecret : previousHost.old) : undefined;
  const host = await store.embedHosts.change(previousHost, body, { sealed, old: oldSecret, keptBy: toHostEditor(owner) });
  return host
    ? ok({ host: await toEmbedHostView(composition, host), ...(newSecret && { secret: newSecret.secret }) })
    : failed(hostChangedFailure);
}

export async function removeEmbedHost({ store }: Dependencies<"store">, id: string): Promise<Result<string, Failure>> {
  const host = await store.embedHosts.get(id);
  if (!host || !(await store.embedHosts.remove(id))) return failed(hostNotFoundFailure);
  while (await store.members.removeGuests({ hostId: id })) await new Promise((resolve) => setImmediate(resolve));
  return ok(host.name);
}

function toHostEditor({ memberId: id, name }: EmbedKeyOwner): HostEditor {
  return { id, name };
}

async function checkHostBody(
  { store }: Dependencies<"store">,
  { role }: Pick<EmbedKeyOwner, "role">,
  body: EmbedHostBody,
): Promise<Failure | undefined> {
  if (!hasRole(role, body.role)) return createFailure("ROLE_TOO_LOW", "Your role does not allow this.");
  if (body.connection !== null && !(await store.connections.getFor("", body.connection))) return notTeamConnectionFailure;
  return undefined;
}

function createSecret({ keyRing }: Dependencies<"keyRing">, id: string): { secret: string; sealed: Sealed } {
  const secret = randomBytes(32).toString("base64url");
  return { secret, sealed: seal(keyRing, toSecretRecordId("embed_hosts", id), secret) };
}

async function toEmbedHostView(composition: Composition, host: EmbedHost): Promise<EmbedHostView> {
  const { env, now } = composition;
  const { id, name, origins, connection, role, pages, guests, jwksUrl, createdAt, refused, old, keptBy } = host;
  const audience = getAudiences(env, id)[0] ?? "";
  const oldSecretUntil = old && old.until > now() ? old.until : undefined;
  const view = { id, name, origins, connection, role, pages, guests, jwksUrl, createdAt, audience, oldSecretUntil };
  return { ...view, ...(keptBy && { keptBy: await toHostEditorView(composition, keptBy) }), ...(refused && { refused }) };
}

async function toHostEditorView({ store }: Dependencies<"store">, { id, name }: HostEditor): Promise<EmbedHostView["keptBy"]> {
  const member = await store.members.get(id);
  if (!member) return { name, lost: "removed" };
  if (member.disabled) return { name: member.name, lost: "suspended" };
  return { name: member.name, ...(!hasRole(member.role, "admin") && { lost: "role" }) };
}

const hostNotFoundFailure = createFailure("NOT_FOUND", "There is no such host page.");
const hostChangedFailure = createFailure("CONFLICT", "This host page has changed. Reload and try again.");
const notTeamConnectionFailure = createFieldFailure("connection", "is not a team connection");
