import { withQuery } from "@/lib/browser/urls";
import { type Params, parseSearch, toSearchValues, type ValuesOf } from "@/lib/contract/params";

export const appScopes = ["all", "mine", "team", "favourites"] as const;
export const appsParams = {
  q: { kind: "text", maxLength: 200, default: "" },
  tag: { kind: "text", maxLength: 40, default: "" },
  whose: { kind: "word", values: appScopes, default: "all" },
} as const satisfies Params;
export type AppsSearch = ValuesOf<typeof appsParams>;

export const DEFAULT_APPS_SEARCH: AppsSearch = parseSearch(appsParams, new URLSearchParams()).query;
export const APPS_PAGE_SIZE = 60;

export function getAppsHref(search: AppsSearch, connection?: string): `/${string}` {
  return withQuery("/apps", { ...toSearchValues(appsParams, search), connection });
}

export function getAppsApiPath(search: AppsSearch, connection: string | undefined): `/${string}` {
  return withQuery("/api/apps", { ...toSearchValues(appsParams, search), limit: APPS_PAGE_SIZE, connection });
}

/** Returns the path of the app's page, or of one of its subpages. */
export function getAppPath(id: string, ...segments: readonly string[]): `/${string}` {
  return `/apps/${[id, ...segments].map(encodeURIComponent).join("/")}`;
}

export function getAppApiPath(id: string, ...segments: readonly string[]): `/${string}` {
  return `/api${getAppPath(id, ...segments)}`;
}
