// Decides who may see and change an app. Apps that a member may not see are reported as missing.

import "server-only";
import { type AppCard, type AppField, type AppView } from "@/lib/contract/apps/app";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { hasRole } from "@/lib/contract/members/roles";
import { failed, ok, type Result } from "@/lib/shared/result";
import { canChange, type Context, type Viewer } from "../auth/viewer";
import { findConnection } from "../connections/access";
import { type AuthedContext } from "../context";
import { getIdParam } from "../requests/read-request";
import { type AppViewer, type StoredApp, type StoredCard } from "../store/apps/apps";

export const appNotFoundFailure = createFailure("NOT_FOUND", "There is no such app.");

export function toAppViewer({ memberId, role }: Viewer): AppViewer {
  return { memberId, role, isAdmin: hasRole(role, "admin") };
}

export async function openApp(context: AuthedContext): Promise<Result<StoredApp, Failure>> {
  const app = await findApp(context, getIdParam(context));
  if (app.ok) context.annotateAudit({ target: app.value.id, connectionId: app.value.connectionId, outcome: app.value.title });
  return app;
}

async function findApp(context: Context, id: string): Promise<Result<StoredApp, Failure>> {
  const app = await context.composition.store.apps.find(toAppViewer(context.viewer), id);
  return app && (await findConnection(context, app.connectionId)).ok ? ok(app) : failed(appNotFoundFailure);
}

export async function readApp(context: Context, id: string): Promise<Result<AppView, Failure>> {
  const app = await findApp(context, id);
  return app.ok ? ok(await toAppView(context, app.value)) : app;
}

export async function openEditableApp(context: AuthedContext): Promise<Result<StoredApp, Failure>> {
  const app = await openApp(context);
  if (!app.ok || canEditApp(context.viewer, app.value)) return app;
  return failed(createFailure("FORBIDDEN", "Only the app's author or an admin can change it."));
}

function canEditApp({ memberId, role }: Viewer, { maker }: Pick<StoredCard, "maker">): boolean {
  return hasRole(role, "admin") || (maker?.id === memberId && hasRole(role, "operator"));
}

export function canSeeWorkflows({ role }: Viewer): boolean {
  return hasRole(role, "viewer");
}

export async function createCardMapper({ composition, viewer }: Context): Promise<(app: StoredCard) => AppCard> {
  const canRun = await canChange(composition);
  return (app) => {
    const { id, title, text, tags, cover, maker, access, version, updatedAt, isFavourite } = app;
    const canEdit = canEditApp(viewer, app);
    return { id, title, text, tags, hasCover: cover !== undefined, maker, access, version, updatedAt, isFavourite, canEdit, canRun };
  };
}

export async function toAppView(context: Context, app: StoredApp): Promise<AppView> {
  const [lastRun] = await context.composition.store.appRuns.list(app.id, context.viewer.memberId, { limit: 1 });
  const { inputs } = app.definition;
  const canSeeWorkflow = canSeeWorkflows(context.viewer);
  const fields: AppField[] = canSeeWorkflow ? inputs : inputs.map(({ node: _node, input: _input, also: _also, ...field }) => field);
  const card = (await createCardMapper(context))(app);
  return {
    ...card,
    connectionId: app.connectionId,
    inputs: fields,
    limits: app.limits,
    ...(card.canEdit && app.access === "members" && { chosen: { members: app.members, roles: app.roles } }),
    canSeeWorkflow,
    ...(lastRun && { lastInputs: lastRun.inputs }),
  };
}
