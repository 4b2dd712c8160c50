import { withQuery } from "@/lib/browser/urls";
import { type Params, parseSearch, toSearchValues, type ValuesOf } from "@/lib/contract/params";

export const whoseApps = ["all", "mine", "team", "favourites"] as const;
export const appsParams = {
  q: { kind: "text", maxLength: 200, default: "" },
  tag: { kind: "text", maxLength: 40, default: "" },
  whose: { kind: "word", values: whoseApps, default: "all" },
} as const satisfies Params;
export type AppsSearch = ValuesOf<typeof appsParams>;

export const everyApp: AppsSearch = parseSearch(appsParams, new URLSearchParams()).query;
export const APPS_PAGE_SIZE = 60;

export function appsHref(search: AppsSearch, connection?: string): `/${string}` {
  return withQuery("/apps", { ...toSearchValues(appsParams, search), connection });
}

export function appsApiPath(search: AppsSearch, connection: string | undefined): `/${string}` {
  return withQuery("/api/apps", { ...toSearchValues(appsParams, search), limit: APPS_PAGE_SIZE, connection });
}

/** A path below the app's page. */
export function appPath(id: string, ...segments: readonly string[]): `/${string}` {
  return `/apps/${[id, ...segments].map(encodeURIComponent).join("/")}`;
}

export function appApi(id: string, ...segments: readonly string[]): `/${string}` {
  return `/api${appPath(id, ...segments)}`;
}
