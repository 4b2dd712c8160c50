import { withQuery } from "@/lib/browser/urls";
import { MASK_LAYER_TAG } from "@/lib/contract/assets/file-refs";
import { type Params, parseSearch, toSearchValues, type ValuesOf } from "@/lib/contract/params";
import { type AssetsQuery, type AssetsResponse } from "@/lib/contract/schemas/asset";
import { type AssetView, toAssetView } from "@/lib/contract/views/asset-view";
import { tileSizes } from "./gallery/gallery-layout";

/** 60 tiles fill five columns by twelve rows. */
export const PAGE_SIZE = 60;

/** Tags that the API sets. */
export const builtInTags = ["output", "input", "temp"] as const;

/** Hides mask layers by excluding their tag, unless the query already filters by it. */
export function withLayerVisibility(query: AssetsQuery, visibility: "hidden" | "shown"): AssetsQuery {
  return visibility === "shown" || getTagState(query, MASK_LAYER_TAG) !== "any"
    ? query
    : { ...query, ...withTagState(query, MASK_LAYER_TAG, "exclude") };
}

/** All five fields in both directions. The first key of each pair is the more common one. */
export const sortOptions = [
  { key: "newest", sort: "created_at", order: "desc" },
  { key: "oldest", sort: "created_at", order: "asc" },
  { key: "changed", sort: "updated_at", order: "desc" },
  { key: "unchanged", sort: "updated_at", order: "asc" },
  { key: "used", sort: "last_access_time", order: "desc" },
  { key: "unused", sort: "last_access_time", order: "asc" },
  { key: "name", sort: "name", order: "asc" },
  { key: "nameDown", sort: "name", order: "desc" },
  { key: "largest", sort: "size", order: "desc" },
  { key: "smallest", sort: "size", order: "asc" },
] as const satisfies readonly { key: string; sort: AssetsQuery["sort"]; order: AssetsQuery["order"] }[];

/** Parameters that the page's links keep in addition to the query. */
type AssetsLocation = {
  displayOptions?: AssetsDisplayOptions;
  connection?: string;
  /** With a default view, `view=all` selects the unfiltered list. Any other URL names its own filters. */
  view?: "all";
  asset?: string;
};

/** The page's URL for a query. Omits defaults, so that the same view always has the same URL. */
export function getAssetsHref(query: AssetsQuery, assetsLocation: AssetsLocation = {}): `/${string}` {
  const search = {
    name_contains: query.name_contains,
    include_tags: query.include_tags,
    exclude_tags: query.exclude_tags?.filter((tag) => tag !== MASK_LAYER_TAG),
    layers: getTagState(query, MASK_LAYER_TAG) === "any" ? "shown" : undefined,
    metadata_filter: query.metadata_filter,
    include_public: query.include_public ? undefined : false,
    sort: query.sort === "created_at" ? undefined : query.sort,
    order: query.order === "desc" ? undefined : query.order,
    limit: query.limit === PAGE_SIZE ? undefined : query.limit,
    offset: query.offset === 0 ? undefined : query.offset,
    ...toSearchValues(displayParams, assetsLocation.displayOptions ?? DEFAULT_DISPLAY_OPTIONS),
  };
  const isDefault = Object.values(search).every((value) => value === undefined || (Array.isArray(value) && value.length === 0));
  return withQuery("/assets", {
    ...search,
    view: isDefault ? assetsLocation.view : undefined,
    connection: assetsLocation.connection,
    asset: assetsLocation.asset,
  });
}

/** The URL of a saved view. */
export function getSavedViewHref(query: string, connection: string | undefined): `/${string}` {
  return withQuery("/assets", { ...Object.fromEntries(new URLSearchParams(query)), view: query === "" ? "all" : undefined, connection });
}

/** Returns a list's key, which all its pages share. */
export function getListKey(query: AssetsQuery): string {
  return getAssetsHref({ ...query, offset: 0, limit: PAGE_SIZE });
}

export function isNewestFirst({ sort, order }: AssetsQuery): boolean {
  return sort === "created_at" && order === "desc";
}

/** The API path of a query, also the browser's cache key. */
export function getAssetsApiPath(query: AssetsQuery, connection: string | undefined): `/${string}` {
  return withQuery("/api/assets", { ...query, connection });
}

export type TagState = "any" | "include" | "exclude";

export function getTagState({ include_tags, exclude_tags }: AssetsQuery, tag: string): TagState {
  return include_tags?.includes(tag) ? "include" : exclude_tags?.includes(tag) ? "exclude" : "any";
}

export function withTagState(query: AssetsQuery, tag: string, state: TagState): Pick<AssetsQuery, "include_tags" | "exclude_tags"> {
  const includedTags = query.include_tags?.filter((other) => other !== tag) ?? [];
  const excludedTags = query.exclude_tags?.filter((other) => other !== tag) ?? [];
  if (state === "include") return { include_tags: [...includedTags, tag], exclude_tags: excludedTags };
  return { include_tags: includedTags, exclude_tags: state === "exclude" ? [...excludedTags, tag] : excludedTags };
}

const nextTagStates: Readonly<Record<TagState, TagState>> = { any: "include", include: "exclude", exclude: "any" };

/** The first click includes the tag, the second excludes it and the third removes it. */
export function withNextTagState(query: AssetsQuery, tag: string): Pick<AssetsQuery, "include_tags" | "exclude_tags"> {
  return withTagState(query, tag, nextTagStates[getTagState(query, tag)]);
}

/** Built-in tags first, then all others in the query. */
export function getVisibleTags({ include_tags, exclude_tags }: AssetsQuery): string[] {
  return [...new Set([...builtInTags, ...(include_tags ?? []), ...(exclude_tags ?? [])])];
}

export function isFiltered({ name_contains, include_tags, exclude_tags, metadata_filter, include_public }: AssetsQuery): boolean {
  const hasExclusions = exclude_tags?.some((tag) => tag !== MASK_LAYER_TAG);
  return Boolean(name_contains || include_tags?.length || hasExclusions || metadata_filter || !include_public);
}

/** Removes all filters and keeps the order. */
export const emptyFilters = {
  name_contains: undefined,
  include_tags: undefined,
  exclude_tags: [MASK_LAYER_TAG],
  metadata_filter: undefined,
  include_public: true,
  offset: 0,
} satisfies Partial<AssetsQuery>;

// Display options: tiles or table, tile size, cropping and paging. The URL omits defaults.

export const displayParams = {
  look: { kind: "word", values: ["gallery", "table"], default: "gallery" },
  size: { kind: "word", values: tileSizes, default: "medium" },
  fit: { kind: "word", values: ["fill", "whole"], default: "fill" },
  by: { kind: "word", values: ["endless", "pages"], default: "endless" },
} as const satisfies Params;
export type AssetsDisplayOptions = ValuesOf<typeof displayParams>;

const DEFAULT_DISPLAY_OPTIONS: AssetsDisplayOptions = parseSearch(displayParams, new URLSearchParams()).query;

export type AssetPage = { assets: AssetView[]; total?: number; hasMore?: boolean; unreadable?: number };

export function toAssetPage({ assets, total, has_more, unreadable }: AssetsResponse): AssetPage {
  return {
    assets: assets.map(toAssetView),
    ...(total !== undefined && { total }),
    ...(has_more !== undefined && { hasMore: has_more }),
    ...(unreadable !== undefined && { unreadable }),
  };
}
