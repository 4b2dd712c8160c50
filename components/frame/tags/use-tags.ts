import useSWR from "swr";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";

export type TagCount = { name: string; count: number | undefined };
type TagsAnswer = { tags: { name: string; count: number }[] };
type RefineAnswer = { tag_counts: Record<string, number> };

/** `absent`: the service has no such list. `unknown`: it did not say, for some other reason. */
export type TagsKnown = { state: "asking" | "present" | "absent" | "unknown"; tags: TagCount[]; failure?: ApiFailure };

const quiet = { revalidateOnFocus: false, revalidateIfStale: false, shouldRetryOnError: false, keepPreviousData: true };

/** Null: the service answered that it has no such list. */
function known(tags: TagCount[] | null | undefined, failure: ApiFailure | undefined): TagsKnown {
  if (failure) return { state: "unknown", tags: tags ?? [], failure };
  if (tags === null) return { state: "absent", tags: [] };
  return tags ? { state: "present", tags } : { state: "asking", tags: [] };
}

/** The service's tags with this prefix, most used first. Whether it answers at all also tells its generation. */
export function useTags(connectionId: string | undefined, prefix = ""): TagsKnown {
  const path =
    connectionId === undefined ? null : withQuery("/api/console/optional/tags", { prefix, limit: 100, connection: connectionId });
  const { data, error } = useSWR<TagCount[] | null, ApiFailure>(path, readTags, quiet);
  return known(data, error);
}

/** The tags of a view's assets, with the number of assets for each. */
export function useRefinedTags(connectionId: string | undefined, query: AssetsQuery): TagsKnown {
  const { include_tags, exclude_tags, name_contains, metadata_filter, include_public } = query;
  const filters = { include_tags, exclude_tags, name_contains, metadata_filter, include_public };
  const path =
    connectionId === undefined
      ? null
      : withQuery("/api/console/optional/refined-tags", { ...filters, limit: 200, connection: connectionId });
  const { data, error } = useSWR<TagCount[] | null, ApiFailure>(path, readRefined, quiet);
  return known(data, error);
}

async function readTags(path: `/${string}`): Promise<TagCount[] | null> {
  const result = await callApi<TagsAnswer | null>(path);
  if (!result.ok) throw result.failure;
  return result.value?.tags ?? null;
}

async function readRefined(path: `/${string}`): Promise<TagCount[] | null> {
  const result = await callApi<RefineAnswer | null>(path);
  if (!result.ok) throw result.failure;
  if (result.value === null) return null;
  const counts = Object.entries(result.value.tag_counts).map(([name, count]) => ({ name, count }));
  return counts.sort((a, b) => b.count - a.count || a.name.localeCompare(b.name));
}
