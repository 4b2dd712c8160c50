// Reads the filter of an asset list from its query.

import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { foldName } from "@/lib/shared/text";
import { type MetadataCondition, readMetadataFilter } from "./metadata-filter";

export type AssetFilter = Pick<AssetsQuery, "include_tags" | "exclude_tags" | "name_contains" | "metadata_filter" | "include_public">;

export type ReadFilter = { include: string[]; exclude: string[]; name: string; metadata: MetadataCondition[]; isNever: boolean };

export function readFilter(filter: AssetFilter): ReadFilter {
  const metadata = readMetadataFilter(filter.metadata_filter);
  return {
    include: [...new Set(filter.include_tags ?? [])],
    exclude: [...new Set(filter.exclude_tags ?? [])],
    name: foldName(filter.name_contains ?? ""),
    metadata,
    isNever: metadata.some((condition) => condition.values.length === 0),
  };
}
