// Saved views. Personal views belong to one member; operators and above change the team's views.

import "server-only";
import { type SavedView, type ViewScreen, viewScreens } from "@/lib/contract/console";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { searchParamNames } from "@/lib/contract/jobs/job-list";
import { hasRole } from "@/lib/contract/members/roles";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Context, type Viewer } from "../auth/viewer";
import { type StoredView } from "../store/saved-views";

/** Applies to each screen, separately for each member and for the team. */
const MAX_VIEWS = 100;
type NewSavedView = { screen: ViewScreen; name: string; query: string; team: boolean; isDefault: boolean };

export async function listSavedViews({ composition: { store }, viewer }: Context, screen: ViewScreen): Promise<SavedView[]> {
  const { savedViews } = store;
  const [views, defaultId] = await Promise.all([
    savedViews.listFor(viewer.memberId, screen),
    savedViews.getDefaultId(viewer.memberId, screen),
  ]);
  return views.map((view) => toSavedView(viewer, view, defaultId));
}

export async function getDefaultView(
  { composition: { store }, viewer }: Context,
  screen: ViewScreen,
): Promise<{ query: string } | undefined> {
  const { savedViews } = store;
  const id = await savedViews.getDefaultId(viewer.memberId, screen);
  return id === undefined ? undefined : savedViews.getFor(viewer.memberId, id);
}

export async function createSavedView(
  { composition: { store, now }, viewer }: Context,
  body: NewSavedView,
): Promise<Result<SavedView, Failure>> {
  if (body.team && !hasRole(viewer.role, "operator")) return failed(createFailure("ROLE_TOO_LOW", "Only operators can create team views."));
  const { screen, name, query, team, isDefault } = body;
  const memberId = team ? undefined : viewer.memberId;
  const views = await store.savedViews.listFor(viewer.memberId, screen);
  if (views.filter((view) => view.memberId === memberId).length >= MAX_VIEWS) {
    const owner = team ? "The team" : "You";
    return failed(createFailure("INVALID_BODY", `${owner} can have at most ${MAX_VIEWS} views. Remove one first.`));
  }
  const view = await store.savedViews.create({ memberId, screen, name, query: cleanQuery(screen, query), createdAt: now() });
  if (isDefault) await store.savedViews.setDefault(viewer.memberId, screen, view.id);
  return ok(toSavedView(viewer, view, isDefault ? view.id : undefined));
}

/** Every member who sees a view can make it their default. Only those who may change it set its name and query. */
export async function changeSavedView(
  { composition: { store }, viewer }: Context,
  id: string,
  change: Partial<Omit<NewSavedView, "screen">>,
): Promise<Result<SavedView, Failure>> {
  const { savedViews } = store;
  const view = await savedViews.getFor(viewer.memberId, id);
  if (!view) return failed(createFailure("NOT_FOUND", "There is no such view."));
  const { name, query, isDefault } = change;
  if ((name !== undefined || query !== undefined) && !canChangeView(viewer, view)) return failed(createRoleFailure());
  await savedViews.change(id, { name, query: query === undefined ? undefined : cleanQuery(view.screen, query) });
  const defaultId = await savedViews.getDefaultId(viewer.memberId, view.screen);
  if (isDefault === true) await savedViews.setDefault(viewer.memberId, view.screen, id);
  if (isDefault === false && defaultId === id) await savedViews.setDefault(viewer.memberId, view.screen, undefined);
  const updatedView = await savedViews.getFor(viewer.memberId, id);
  return ok(toSavedView(viewer, updatedView ?? view, await savedViews.getDefaultId(viewer.memberId, view.screen)));
}

export async function removeSavedView({ composition: { store }, viewer }: Context, id: string): Promise<Result<{ name: string }, Failure>> {
  const { savedViews } = store;
  const view = await savedViews.getFor(viewer.memberId, id);
  if (!view) return failed(createFailure("NOT_FOUND", "There is no such view."));
  if (!canChangeView(viewer, view)) return failed(createRoleFailure());
  return (await savedViews.remove(id)) ? ok({ name: view.name }) : failed(createFailure("NOT_FOUND", "There is no such view."));
}

function canChangeView(viewer: Viewer, view: StoredView): boolean {
  return view.memberId === viewer.memberId || (view.memberId === undefined && hasRole(viewer.role, "operator"));
}

const createRoleFailure = () => createFailure("ROLE_TOO_LOW", "Only operators can change team views.");

function toSavedView(viewer: Viewer, view: StoredView, defaultId: string | undefined): SavedView {
  const { id, name, query, memberId } = view;
  return { id, name, query, team: memberId === undefined, isDefault: id === defaultId, canChange: canChangeView(viewer, view) };
}

/** The query parameters of a view. The page number, the connection and an open job are not part of it. */
const viewParams: Readonly<Record<ViewScreen, readonly string[]>> = {
  jobs: ["status", "workflow_id", "output_type", ...searchParamNames, "sort_by", "sort_order", "limit", "inputs"],
  history: ["status", "workflow_id", "output_type", ...searchParamNames, "max_items", "inputs"],
  assets: [
    ...["include_tags", "exclude_tags", "layers", "name_contains", "metadata_filter", "include_public", "sort", "order", "limit"],
    ...["look", "size", "fit", "by"],
  ],
};

function cleanQuery(screen: string, query: string): string {
  const params = new URLSearchParams(query);
  const cleanedParams = new URLSearchParams();
  const names = viewParams[viewScreens.find((viewScreen) => viewScreen === screen) ?? "jobs"];
  for (const name of names) {
    const value = params.get(name);
    if (value) cleanedParams.set(name, value);
  }
  return cleanedParams.toString();
}
