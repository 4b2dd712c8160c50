// Personal tokens and embedded sessions, and the operations each may call.

import "server-only";
import { type EmbedAppearance, type EmbedPage, embedPageOf } from "@/lib/contract/embed/embed-pages";
import { isRead } from "@/lib/contract/operation";
import { allOperations } from "@/lib/contract/operations";
import { type Role, weaker } from "@/lib/contract/people/roles";
import { APPS, EVENTS, looksLikeToken } from "@/lib/contract/people/sign-in";
import { type TokenOperations } from "@/lib/contract/people/tokens";
import { bearerIn } from "@/lib/shared/headers";
import { type Composition, type Parts } from "../composition-type";
import { type EmbeddedViewer, findEmbeddedSession, readEmbeddedSession } from "../embed/sessions";
import { type Token } from "../store/people/tokens";

/** "two": two different tokens. Any X-API-Key counts as a token; a bearer counts only if it looks like one of ours. */
type SentToken = { token: string } | "two" | undefined;

export function readSentToken(headers: Pick<Headers, "get">): SentToken {
  const key = headers.get("x-api-key")?.trim() || undefined;
  const bearer = bearerIn(headers.get("authorization"));
  if (key !== undefined && bearer !== undefined && key !== bearer) return "two";
  const token = key ?? (bearer?.startsWith("ld_") ? bearer : undefined);
  return token === undefined ? undefined : { token };
}

/** A token in a URL would end up in logs. */
export function isTokenInAddress(url: string): boolean {
  const query = url.split("?").slice(1).join("?");
  return /(?<![A-Za-z0-9])ld(?:_|%5f)[0-9a-f]{64}(?![A-Za-z0-9])/i.test(query);
}

/** Every token may list connections, read the interface's description, and get a 404 for an address that does not exist. */
const always = ["unknown", "readOpenApi", "listConnections"];

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
const consoleActs = ["stopJobs", "cancelDownload", "retryDownload", "forgetDownload"];
const insideApps = ["readAppWorkflow", "exportApp", "listAppVersions"];
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
const appActs = ["addAppFile", "addAppMask", "runApp", "cancelAppRun"];

const reads = [...always, ...consoleReads, ...appReads, ...insideApps, EVENTS, ...allOperations.filter(isRead).map(({ name }) => name)];
const all = [...new Set([...reads, ...consoleActs, ...appActs, ...allOperations.map(({ name }) => name)])];

/** What a member can do in a frame besides a token's operations: all but the member's account and what requires a recent sign-in. */
export const embedOperations: readonly string[] = [
  ...all,
  ...["embedLook", "endEmbedSession"],
  ...["createApp", "importApp", "changeApp", "removeApp", "restoreApp", "favourApp", "listAppPeople"],
  ...["addAppPreset", "changeAppPreset", "removeAppPreset"],
  ...["listSavedViews", "createSavedView", "changeSavedView", "removeSavedView"],
  ...["checkConnection", "useConnection", "takeJobsView"],
  ...["listMembers", "listInvitations", "withdrawInvitation", "listRunners", "readUsage", "exportUsage"],
];

function operationsOf(operations: TokenOperations): readonly string[] {
  if (operations === "all") return all;
  if (operations === "reads") return reads;
  return [...always, ...operations, ...(operations.includes(APPS) ? [...appReads, ...appActs] : [])];
}

const choosable = new Set([EVENTS, APPS, ...allOperations.map(({ name }) => name)]);

export function mayBeChosen(operation: string): boolean {
  return choosable.has(operation);
}

export type TokenCredential = { kind: "token"; id: string; name: string; connectionId: string };
type TokenViewer = {
  memberId: string;
  name: string;
  email: string;
  role: Role;
  credential: TokenCredential;
  scope: { connections: readonly string[] | undefined; operations: readonly string[] };
};

export async function viewerByToken(composition: Composition, text: string): Promise<TokenViewer | undefined> {
  const { store, now, log } = composition;
  const token = looksLikeToken(text) ? await store.tokens.find(text) : undefined;
  const viewer = token && (await toTokenViewer(composition, token));
  if (!viewer) return undefined;
  try {
    await store.tokens.noteUse(token, now());
  } catch (err) {
    // A full disk must not lock anyone out.
    log.warn({ err }, "token use update failed");
  }
  return viewer;
}

export async function viewerByTokenId(composition: Composition, id: string): Promise<TokenViewer | undefined> {
  const token = await composition.store.tokens.get(id);
  return token && toTokenViewer(composition, token);
}

export function isOver({ revokedAt, expiresAt }: Token, now: number): boolean {
  return revokedAt !== undefined || (expiresAt !== undefined && expiresAt <= now);
}

async function toTokenViewer({ store, now }: Parts<"store" | "now">, token: Token): Promise<TokenViewer | undefined> {
  if (isOver(token, now())) return undefined;
  const member = await store.members.get(token.memberId);
  if (!member || member.disabled) return undefined;
  return {
    memberId: member.id,
    name: member.name,
    email: member.email,
    role: weaker(member.role, token.role),
    credential: { kind: "token", id: token.id, name: token.name, connectionId: token.connectionId },
    scope: { connections: token.connectionIds, operations: operationsOf(token.operations) },
  };
}

/** `host`: the name of the host page. `pages`: all pages that it shows. */
export type EmbedCredential = {
  kind: "embed";
  id: string;
  host: string;
  pages: readonly EmbedPage[];
  look: EmbedAppearance;
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

export async function viewerByEmbedding(composition: Composition, headers: Pick<Headers, "get">): Promise<EmbedViewer | undefined> {
  const embeddedViewer = await readEmbeddedSession(composition, headers);
  return embeddedViewer && toEmbedViewer(composition, embeddedViewer);
}

export async function viewerByEmbeddingId(composition: Composition, id: string): Promise<EmbedViewer | undefined> {
  const embeddedViewer = await findEmbeddedSession(composition, id);
  return embeddedViewer && toEmbedViewer(composition, embeddedViewer);
}

export function mayShow({ pages }: EmbedCredential, path: string): boolean {
  const page = embedPageOf(path);
  return page === undefined ? /^\/choose(\?|$)/.test(path) : pages.includes(page);
}

async function toEmbedViewer(
  { store, now }: Parts<"store" | "now">,
  { member, role, session, hostName }: EmbeddedViewer,
): Promise<EmbedViewer> {
  const { id, pages, theme, language, origin, connectionId, expiresAt } = session;
  const leftMs = expiresAt - now();
  // Never the member's own connections: the host page alone says who the member is.
  const team = await store.connections.listFor("");
  const reached = team.map((connection) => connection.id).filter((value) => connectionId === undefined || value === connectionId);
  return {
    memberId: member.id,
    name: member.name,
    email: member.guestOf === undefined ? member.email : "",
    role,
    credential: { kind: "embed", id, host: hostName, pages, look: { theme, language }, origin, leftMs },
    scope: { connections: reached, operations: embedOperations },
  };
}
