// Personal tokens and embedded sessions, and the operations each may call.

import "server-only";
import { type EmbedAppearance, type EmbedPage, findEmbedPage } from "@/lib/contract/embed/embed-pages";
import { getWeakerRole, type Role } from "@/lib/contract/members/roles";
import { APPS_OPERATION, EVENTS_OPERATION, looksLikeToken } from "@/lib/contract/members/sign-in";
import { type TokenOperations } from "@/lib/contract/members/tokens";
import { isRead } from "@/lib/contract/operation";
import { allOperations } from "@/lib/contract/operations";
import { parseBearer } from "@/lib/shared/headers";
import { type Composition, type Dependencies } from "../composition-type";
import { type EmbeddedViewer, findEmbeddedSession, readEmbeddedSession } from "../embed/sessions";
import { type Token } from "../store/people/tokens";

/** "two" means two different tokens. Any X-API-Key counts as a token, a bearer token only if it has our prefix. */
type SentToken = { token: string } | "two" | undefined;

export function readSentToken(headers: Pick<Headers, "get">): SentToken {
  const key = headers.get("x-api-key")?.trim() || undefined;
  const bearer = parseBearer(headers.get("authorization"));
  if (key !== undefined && bearer !== undefined && key !== bearer) return "two";
  const token = key ?? (bearer?.startsWith("ld_") ? bearer : undefined);
  return token === undefined ? undefined : { token };
}

/** A token in a URL would end up in logs. */
export function hasTokenInUrl(url: string): boolean {
  const query = url.split("?").slice(1).join("?");
  return /(?<![A-Za-z0-9])ld(?:_|%5f)[0-9a-f]{64}(?![A-Za-z0-9])/i.test(query);
}

/** Every token may list connections, read the API description, and get a 404 for unknown URLs. */
const alwaysAllowedOperations = ["unknown", "readOpenApi", "listConnections"];

const consoleReads = [
  "searchJobs",
  "exportJobs",
  "viewQueue",
  "countJobs",
  "viewPreview",
  "viewCapabilities",
  "viewMaskLayer",
  "thumbnail",
  "listWorkflows",
  "listRunsByDay",
  "listLackingClasses",
  "listDownloads",
  "readSubmission",
  "chooseArchive",
  "fetchArchive",
  "listAudit",
  "exportAudit",
];
const consoleWrites = ["stopJobs", "cancelDownload", "retryDownload", "forgetDownload"];
const appDefinitionReads = ["readAppWorkflow", "exportApp", "listAppVersions"];
const appReads = [
  "listApps",
  "readApp",
  "listAppPresets",
  "viewAppCover",
  "viewAppFile",
  "listAppPictures",
  "readAppOpenApi",
  "listAppRuns",
  "readAppRun",
  "viewAppResult",
];
const appWrites = ["addAppFile", "addAppMask", "runApp", "cancelAppRun"];

const readOperations = [
  ...alwaysAllowedOperations,
  ...consoleReads,
  ...appReads,
  ...appDefinitionReads,
  EVENTS_OPERATION,
  ...allOperations.filter(isRead).map(({ name }) => name),
];
const allTokenOperations = [...new Set([...readOperations, ...consoleWrites, ...appWrites, ...allOperations.map(({ name }) => name)])];

/** Operations in an embedded frame besides those of a token. Account changes and operations that need a recent sign-in are left out. */
export const embedOperations: readonly string[] = [
  ...allTokenOperations,
  ...["embedLook", "endEmbedSession"],
  ...["createApp", "importApp", "changeApp", "removeApp", "restoreApp", "favourApp", "listAppPeople"],
  ...["addAppPreset", "changeAppPreset", "removeAppPreset"],
  ...["listSavedViews", "createSavedView", "changeSavedView", "removeSavedView"],
  ...["checkConnection", "useConnection", "takeJobsView"],
  ...["listMembers", "listInvitations", "withdrawInvitation", "listRunners", "readUsage", "exportUsage"],
];

function getTokenOperations(operations: TokenOperations): readonly string[] {
  if (operations === "all") return allTokenOperations;
  if (operations === "reads") return readOperations;
  return [...alwaysAllowedOperations, ...operations, ...(operations.includes(APPS_OPERATION) ? [...appReads, ...appWrites] : [])];
}

const selectableOperations = new Set([EVENTS_OPERATION, APPS_OPERATION, ...allOperations.map(({ name }) => name)]);

export function isSelectableOperation(operation: string): boolean {
  return selectableOperations.has(operation);
}

/** `method` is `password`, or the party that authenticated the member. `confirmedAt` is when the identity was last proved. */
type SessionCredential = { kind: "session"; id: string; method: string; confirmedAt: number };
type TokenCredential = { kind: "token"; id: string; name: string; connectionId: string };
/** `host` is the name of the host page; `pages` are the console pages it may embed. */
type EmbedCredential = {
  kind: "embed";
  id: string;
  host: string;
  pages: readonly EmbedPage[];
  look: EmbedAppearance;
  origin: string;
  leftMs: number;
};
/** The rights of the share's creator, limited to what was shared. Created only by lib/server/shares, never from a request. */
type ShareCredential = { kind: "share"; id: string };
export type Credential = SessionCredential | TokenCredential | ShareCredential | EmbedCredential;
/** Limits the role to these connection ids and operation names. Undefined means everything that the role allows. */
type Scope = { connections?: readonly string[]; operations?: readonly string[] };
export type Viewer = { memberId: string; name: string; email: string; role: Role; credential: Credential; scope: Scope };

export async function findTokenViewer(composition: Composition, tokenText: string): Promise<Viewer | undefined> {
  const { store, now, log } = composition;
  const token = looksLikeToken(tokenText) ? await store.tokens.find(tokenText) : undefined;
  const viewer = token && (await toTokenViewer(composition, token));
  if (!viewer) return undefined;
  try {
    await store.tokens.recordUse(token, now());
  } catch (err) {
    // A full disk must not lock anyone out.
    log.warn({ err }, "token use update failed");
  }
  return viewer;
}

export async function findTokenViewerById(composition: Composition, id: string): Promise<Viewer | undefined> {
  const token = await composition.store.tokens.get(id);
  return token && toTokenViewer(composition, token);
}

export function isTokenExpired({ revokedAt, expiresAt }: Token, now: number): boolean {
  return revokedAt !== undefined || (expiresAt !== undefined && expiresAt <= now);
}

async function toTokenViewer({ store, now }: Dependencies<"store" | "now">, token: Token): Promise<Viewer | undefined> {
  if (isTokenExpired(token, now())) return undefined;
  const member = await store.members.get(token.memberId);
  if (!member || member.disabled) return undefined;
  return {
    memberId: member.id,
    name: member.name,
    email: member.email,
    role: getWeakerRole(member.role, token.role),
    credential: { kind: "token", id: token.id, name: token.name, connectionId: token.connectionId },
    scope: { connections: token.connectionIds, operations: getTokenOperations(token.operations) },
  };
}

export async function findEmbedViewer(composition: Composition, headers: Pick<Headers, "get">): Promise<Viewer | undefined> {
  const embeddedViewer = await readEmbeddedSession(composition, headers);
  return embeddedViewer && toEmbedViewer(composition, embeddedViewer);
}

export async function findEmbedViewerById(composition: Composition, id: string): Promise<Viewer | undefined> {
  const embeddedViewer = await findEmbeddedSession(composition, id);
  return embeddedViewer && toEmbedViewer(composition, embeddedViewer);
}

export function canShowPage({ pages }: EmbedCredential, path: string): boolean {
  const page = findEmbedPage(path);
  return page === undefined ? /^\/choose(\?|$)/.test(path) : pages.includes(page);
}

async function toEmbedViewer(
  { store, now }: Dependencies<"store" | "now">,
  { member, role, session, hostName }: EmbeddedViewer,
): Promise<Viewer> {
  const { id, pages, theme, language, origin, connectionId, expiresAt } = session;
  const leftMs = expiresAt - now();
  // Never includes the member's own connections, because only the host page vouches for the member.
  const teamConnections = await store.connections.listFor("");
  const reachableIds = teamConnections
    .map((connection) => connection.id)
    .filter((value) => connectionId === undefined || value === connectionId);
  return {
    memberId: member.id,
    name: member.name,
    email: member.guestOf === undefined ? member.email : "",
    role,
    credential: { kind: "embed", id, host: hostName, pages, look: { theme, language }, origin, leftMs },
    scope: { connections: reachableIds, operations: embedOperations },
  };
}
