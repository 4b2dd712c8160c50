// Lists, creates, changes, imports and exports apps.

import "server-only";
import { type z } from "zod";
import {
  APP_FILE_FORMAT,
  type AppAccess,
  type AppDefinition,
  type AppFile,
  type AppLimits,
  type AppMember,
  type appsQuerySchema,
  type AppsResponse,
  type appUpdateSchema,
} from "@/lib/contract/apps/app";
import { compareVersions } from "@/lib/contract/apps/definition";
import { isEditorFile } from "@/lib/contract/editor-workflow/file";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { asObject } from "@/lib/contract/json/json";
import { maskSecrets } from "@/lib/contract/secrets/mask-secrets";
import { findWorkflowSecrets } from "@/lib/contract/secrets/secret-locations";
import { readWorkflow } from "@/lib/contract/workflow/graph";
import { workflowLimits } from "@/lib/contract/workflow/read-workflow";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Context } from "../auth/viewer";
import { findConnection, openConnection } from "../connections/access";
import { type AuthedContext } from "../context";
import { MAX_APPS, type StoredApp } from "../store/apps/apps";
import { appNotFoundFailure, createCardMapper, toAppViewer } from "./open-app";

type ImportErrorReason = "workflow" | "otherVersion" | "damaged" | "other";
type Issue = { path: readonly PropertyKey[]; message: string };

const importErrors: Readonly<Record<ImportErrorReason, string>> = {
  workflow: "This file is a workflow, not an app. Open it in Run and create an app from it.",
  otherVersion: "This app was exported from another version of Lightdesk. Export it again from a console with this version.",
  damaged: "This app file is damaged. Export it again.",
  other: "This file isn't an app. Choose a file that was exported from an app.",
};

/** `reason` is for the UI, which has its own messages. */
export function createImportFailure(body: unknown, issues: readonly Issue[]): Failure {
  const reason = findImportErrorReason(body);
  const issue = reason === "damaged" ? issues[0] : undefined;
  const location = issue && `${issue.path.map(String).join(".")}: ${issue.message}`.slice(0, 300);
  return createFailure("INVALID_BODY", location ? `${importErrors[reason]} (${location})` : importErrors[reason], { reason });
}

function findImportErrorReason(body: unknown): ImportErrorReason {
  const { format, formatVersion } = asObject(body) ?? {};
  if (format === APP_FILE_FORMAT) return formatVersion === 1 ? "damaged" : "otherVersion";
  return isEditorFile(body) || readWorkflow(writeExactJson(body)).ok ? "workflow" : "other";
}

const outdatedFailure = createFailure(
  "CONFLICT",
  "Another member changed this app while you were editing it. Open it again and repeat your change in the newest version.",
);

export async function listApps(
  context: Context,
  connectionId: string | undefined,
  { q, ...filter }: z.output<typeof appsQuerySchema>,
): Promise<Result<AppsResponse, Failure>> {
  const connection = await findConnection(context, connectionId);
  if (!connection.ok) return connection;
  const { apps } = context.composition.store;
  const appViewer = toAppViewer(context.viewer);
  const words = q.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 10);
  const [toCard, page, tags] = await Promise.all([
    createCardMapper(context),
    apps.list(appViewer, connection.value.id, { words, ...filter }),
    apps.listTags(appViewer, connection.value.id),
  ]);
  return ok({ apps: page.apps.map(toCard), tags, ...(page.next !== undefined && { next: page.next }) });
}

/** Members who may use the connection, by name. Only their name and role are sent. */
export async function listEligibleMembers(context: Context, connectionId: string | undefined): Promise<Result<AppMember[], Failure>> {
  const connection = await findConnection(context, connectionId);
  if (!connection.ok) return connection;
  const { memberId: ownerId } = connection.value;
  const members = (await context.composition.store.members.list()).filter(({ disabled }) => !disabled);
  const usableMembers = members.filter(({ id }) => ownerId === undefined || id === ownerId);
  return ok(usableMembers.map(({ id, name, role }) => ({ id, name, role })).sort((member, other) => member.name.localeCompare(other.name)));
}

type NewApp = { definition: AppDefinition; access: AppAccess; limits: AppLimits };

export async function createApp(
  context: AuthedContext,
  connectionId: string | undefined,
  app: NewApp,
): Promise<Result<StoredApp, Failure>> {
  const { viewer, annotateAudit } = context;
  const access = await openConnection(context, connectionId);
  if (!access.ok) return access;
  annotateAudit({ connectionId: access.value.connection.id, outcome: app.definition.title });
  const validation = validateDefinition(app.definition, access.value.apiKey);
  if (!validation.ok) return validation;
  const { store, now } = context.composition;
  const { memberId, name } = viewer;
  const id = await store.apps.create({ ...app, connectionId: access.value.connection.id, memberId, by: name, now: now() });
  if (id === undefined) return failed(createFailure("CONFLICT", `A connection can have at most ${MAX_APPS} apps.`));
  annotateAudit({ target: id });
  return reloadApp(context, id);
}

export async function updateApp(
  context: AuthedContext,
  app: StoredApp,
  { version, definition, access, limits }: z.output<typeof appUpdateSchema>,
): Promise<Result<StoredApp, Failure>> {
  const { viewer } = context;
  if (version !== app.version) return failed(outdatedFailure);
  const changes = definition ? compareVersions(app.definition, definition) : [];
  if (definition && changes.length > 0) {
    const connectionResult = await openConnection(context, app.connectionId);
    if (!connectionResult.ok) return connectionResult;
    const validation = validateDefinition(definition, connectionResult.value.apiKey);
    if (!validation.ok) return validation;
  }
  if (changes.length === 0 && !isAccessChanged(app, access) && (!limits || writeExactJson(limits) === writeExactJson(app.limits)))
    return ok(app);
  const change = { fromVersion: version, by: viewer.name, now: context.composition.now(), access, limits };
  const newVersion = await context.composition.store.apps.change(app.id, { ...change, ...(changes.length > 0 && { definition, changes }) });
  return newVersion === undefined ? failed(outdatedFailure) : reloadApp(context, app.id);
}

function isAccessChanged(app: StoredApp, access: AppAccess | undefined): boolean {
  if (!access) return false;
  const { members, roles } = access.kind === "members" ? access : { members: [], roles: [] };
  const isSame = (ids: readonly string[], otherIds: readonly string[]) => [...ids].sort().join("\n") === [...otherIds].sort().join("\n");
  return access.kind !== app.access || !isSame(members, app.members) || !isSame(roles, app.roles);
}

export async function restoreVersion({ params, ...context }: AuthedContext, app: StoredApp): Promise<Result<StoredApp, Failure>> {
  const versionNumber = Number(params.number);
  const { store, now } = context.composition;
  const definition = Number.isSafeInteger(versionNumber) ? await store.apps.findDefinition(app.id, versionNumber) : undefined;
  if (!definition) return failed(createFailure("NOT_FOUND", "There is no such version."));
  const changes = compareVersions(app.definition, definition);
  if (changes.length === 0) return ok(app);
  const change = { fromVersion: app.version, by: context.viewer.name, now: now(), definition, changes, restoredFrom: versionNumber };
  return (await store.apps.change(app.id, change)) === undefined ? failed(outdatedFailure) : reloadApp(context, app.id);
}

export function toAppFile({ definition: { cover: _cover, ...definition }, limits }: StoredApp, cover: string | undefined): AppFile {
  return { format: APP_FILE_FORMAT, formatVersion: 1, definition, limits, ...(cover !== undefined && { cover }) };
}

async function reloadApp({ composition: { store }, viewer }: Context, id: string): Promise<Result<StoredApp, Failure>> {
  const app = await store.apps.find(toAppViewer(viewer), id);
  return app ? ok(app) : failed(appNotFoundFailure);
}

function validateDefinition(definition: AppDefinition, apiKey: string | undefined): Result<AppDefinition, Failure> {
  if (writeExactJson(definition).length > workflowLimits.characters)
    return failed(createFailure("UNPROCESSABLE", `The app is larger than ${workflowLimits.characters} characters.`));
  const maskedDefinition = maskSecrets(definition, apiKey === undefined ? [] : [apiKey]);
  const [secretPath] = findWorkflowSecrets(maskedDefinition.graph);
  if (maskedDefinition === definition && secretPath === undefined) return ok(definition);
  const location = secretPath?.kind === "input" ? ` (${secretPath.node}, ${secretPath.input})` : "";
  return failed(createFailure("UNPROCESSABLE", `The workflow contains a key or token${location}. Apps are shared, so remove it first.`));
}
