// From a member and an app's id to the app: the one place that decides who sees it and who changes it; a runner sees no workflow.
// Guarantees: an app that a member may not see is answered like one that does not exist.

import "server-only";
import { type AppCard, type AppField, type AppView } from "@/lib/contract/apps/app";
import { type Failure, refusal } from "@/lib/contract/failure";
import { hasRole } from "@/lib/contract/people/roles";
import { failed, ok, type Result } from "@/lib/shared/result";
import { canChange, type Context, type Viewer } from "../auth/viewer";
import { findConnection } from "../connections/access";
import { type AuthedContext } from "../context";
import { idOf } from "../requests/read-request";
import { type StoredCard } from "../store/apps/app-rows";
import { type Asker, type StoredApp } from "../store/apps/apps";

export const noApp = refusal("NOT_FOUND", "There is no such app.");

export function askerOf({ memberId, role }: Viewer): Asker {
  return { memberId, role, isAdmin: hasRole(role, "admin") };
}

/** The app of the route's [id] folder. */
export async function openApp(asked: AuthedContext): Promise<Result<StoredApp, Failure>> {
  const app = await findApp(asked, idOf(asked));
  if (app.ok) asked.annotateAudit({ target: app.value.id, connectionId: app.value.connectionId, outcome: app.value.title });
  return app;
}

async function findApp(context: Context, id: string): Promise<Result<StoredApp, Failure>> {
  const app = await context.composition.store.apps.find(askerOf(context.viewer), id);
  return app && (await findConnection(context, app.connectionId)).ok ? ok(app) : failed(noApp);
}

/** For a page. */
export async function readApp(context: Context, id: string): Promise<Result<AppView, Failure>> {
  const app = await findApp(context, id);
  return app.ok ? ok(await toView(context, app.value)) : app;
}

/** To change it: allowed for the member who made it, and for admins. */
export async function openOwnApp(asked: AuthedContext): Promise<Result<StoredApp, Failure>> {
  const app = await openApp(asked);
  if (!app.ok || mayEdit(asked.viewer, app.value)) return app;
  return failed(refusal("FORBIDDEN", "Only who made an app, or an admin, can change it."));
}

function mayEdit({ memberId, role }: Viewer, { maker }: Pick<StoredCard, "maker">): boolean {
  return hasRole(role, "admin") || (maker?.id === memberId && hasRole(role, "operator"));
}

export function seesWorkflows({ role }: Viewer): boolean {
  return hasRole(role, "viewer");
}

/** Turns stored apps into the cards that the member may see. */
export async function cardsFor({ composition, viewer }: Context): Promise<(app: StoredCard) => AppCard> {
  const canRun = await canChange(composition);
  return (app) => {
    const { id, title, text, tags, cover, maker, access, version, updatedAt, isFavourite } = app;
    const canEdit = mayEdit(viewer, app);
    return { id, title, text, tags, hasCover: cover !== undefined, maker, access, version, updatedAt, isFavourite, canEdit, canRun };
  };
}

export async function toView(context: Context, app: StoredApp): Promise<AppView> {
  const [last] = await context.composition.store.appRuns.list(app.id, context.viewer.memberId, { limit: 1 });
  const { inputs } = app.definition;
  const canSeeWorkflow = seesWorkflows(context.viewer);
  const fields: AppField[] = canSeeWorkflow ? inputs : inputs.map(({ node: _node, input: _input, also: _also, ...field }) => field);
  const card = (await cardsFor(context))(app);
  return {
    ...card,
    connectionId: app.connectionId,
    inputs: fields,
    limits: app.limits,
    ...(card.canEdit && app.access === "members" && { chosen: { members: app.members, roles: app.roles } }),
    canSeeWorkflow,
    ...(last && { lastInputs: last.inputs }),
  };
}
