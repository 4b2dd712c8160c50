import { withQuery } from "@/lib/browser/urls";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";

/** Pictures, so fewer rows of the screen than a list of words; fills five columns by twelve. */
export const PAGE_SIZE = 60;

/** Tags that the interface itself gives. */
const ownTags = ["output", "input", "temp"] as const;

export const sortings = [
  { key: "newest", sort: "created_at", order: "desc" },
  { key: "oldest", sort: "created_at", order: "asc" },
  { key: "changed", sort: "updated_at", order: "desc" },
  { key: "used", sort: "last_access_time", order: "desc" },
  { key: "name", sort: "name", order: "asc" },
  { key: "largest", sort: "size", order: "desc" },
  { key: "smallest", sort: "size", order: "asc" },
] as const satisfies readonly { key: string; sort: AssetsQuery["sort"]; order: AssetsQuery["order"] }[];

/** The page's own address for a query; defaults are left out, so that two ways to the same view have one address. */
export function assetsHref(query: AssetsQuery, change: Partial<AssetsQuery> & { connection?: string; asset?: string } = {}): `/${string}` {
  const next = { ...query, ...change };
  return withQuery("/assets", {
    name_contains: next.name_contains,
    include_tags: next.include_tags,
    exclude_tags: next.exclude_tags,
    metadata_filter: next.metadata_filter,
    include_public: next.include_public ? undefined : false,
    sort: next.sort === "created_at" ? undefined : next.sort,
    order: next.order === "desc" ? undefined : next.order,
    limit: next.limit === PAGE_SIZE ? undefined : next.limit,
    offset: next.offset === 0 ? undefined : next.offset,
    connection: next.connection,
    asset: next.asset,
  });
}

/** The API's path for a query: the key under which the browser keeps the answer. */
export function assetsApiPath(query: AssetsQuery, connection: string | undefined): `/${string}` {
  return withQuery("/api/assets", { ...query, connection });
}

export type TagState = "any" | "include" | "exclude";

export function tagState({ include_tags, exclude_tags }: AssetsQuery, tag: string): TagState {
  return include_tags?.includes(tag) ? "include" : exclude_tags?.includes(tag) ? "exclude" : "any";
}

/** One press asks for the tag, the next for everything without it, the third forgets it. */
export function withNextTagState(query: AssetsQuery, tag: string): Pick<AssetsQuery, "include_tags" | "exclude_tags"> {
  const include = query.include_tags?.filter((other) => other !== tag) ?? [];
  const exclude = query.exclude_tags?.filter((other) => other !== tag) ?? [];
  const state = tagState(query, tag);
  if (state === "any") return { include_tags: [...include, tag], exclude_tags: exclude };
  return { include_tags: include, exclude_tags: state === "include" ? [...exclude, tag] : exclude };
}

/** The interface's own tags first, then whatever else is asked for. */
export function shownTags({ include_tags, exclude_tags }: AssetsQuery): string[] {
  return [...new Set([...ownTags, ...(include_tags ?? []), ...(exclude_tags ?? [])])];
}

export function isFiltered({ name_contains, include_tags, exclude_tags, metadata_filter, include_public }: AssetsQuery): boolean {
  return Boolean(name_contains || include_tags?.length || exclude_tags?.length || metadata_filter || !include_public);
}

/** Nothing filtered, in the order that was chosen. */
export const unfiltered = {
  name_contains: undefined,
  include_tags: undefined,
  exclude_tags: undefined,
  metadata_filter: undefined,
  include_public: true,
  offset: 0,
} as const satisfies Partial<AssetsQuery>;
