import { type ComponentProps, useId, useState } from "react";
import useSWR from "swr";
import { Input } from "@/components/ui/controls/fields";
import { isComposing } from "@/components/ui/hooks/page-events";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { withQuery } from "@/lib/browser/urls";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { parseTags } from "@/lib/shared/text";

type TagsInputProps = Omit<ComponentProps<"input">, "value" | "list" | "onChange" | "onKeyDown"> & {
  connection: string | undefined;
  value: string;
  loadedTags?: readonly string[];
  onTextChange: (text: string) => void;
};

const MAX_SUGGESTIONS = 30;

/** Comma-separated tags. Enter completes a partial tag if only one matches. Otherwise it submits the form. */
export function TagsInput({ connection, value, loadedTags = [], onTextChange, ...inputProps }: TagsInputProps) {
  const listId = useId();
  const [hasInput, setHasInput] = useState(false);
  const { precedingText, partialTag } = splitLastTag(value);
  const { tags } = useTags(hasInput ? connection : undefined, partialTag);
  const allTags = [...new Set([...tags.map(({ name }) => name), ...loadedTags])].filter((tag) => !tag.includes(","));
  const suggestions = hasInput ? suggestTags(value, allTags) : [];
  return (
    <>
      <Input
        {...inputProps}
        list={listId}
        value={value}
        autoComplete="off"
        onChange={({ target }) => {
          setHasInput(true);
          onTextChange(target.value);
        }}
        onKeyDown={(event) => {
          const completion = findCompletion(partialTag, suggestions);
          if (event.key !== "Enter" || isComposing(event.nativeEvent) || completion === undefined || completion === partialTag) return;
          event.preventDefault();
          onTextChange(precedingText + completion);
        }}
      />
      <datalist id={listId}>
        {suggestions.slice(0, MAX_SUGGESTIONS).map((tag) => (
          <option key={tag} value={precedingText + tag} />
        ))}
      </datalist>
    </>
  );
}

/** Returns the partial tag if it is already complete, otherwise the only suggestion. */
export function findCompletion(partialTag: string, suggestions: readonly string[]): string | undefined {
  if (partialTag === "" || suggestions.includes(partialTag)) return partialTag || undefined;
  return suggestions.length === 1 ? suggestions[0] : undefined;
}

/** Splits the text into the last tag, which may be incomplete, and the text before it. */
function splitLastTag(text: string): { precedingText: string; partialTag: string } {
  const [precedingText = ""] = /^.*[,\n，]\s*/s.exec(text) ?? [];
  return { precedingText, partialTag: text.slice(precedingText.length).trim() };
}

function suggestTags(text: string, allTags: readonly string[]): string[] {
  const { precedingText, partialTag } = splitLastTag(text);
  const tags = parseTags(precedingText);
  return allTags.filter((tag) => tag.toLowerCase().includes(partialTag.toLowerCase()) && !tags.includes(tag));
}

export type TagCount = { name: string; count: number | undefined };
type TagsResponse = { tags: { name: string; count: number }[] };
type RefineResponse = { tag_counts: Record<string, number> };

/** `absent`: the service has no such list. `unknown`: the request failed for another reason. */
type TagsState = { state: "asking" | "present" | "absent" | "unknown"; tags: TagCount[]; failure?: ApiFailure };

const swrOptions = { revalidateOnFocus: false, revalidateIfStale: false, shouldRetryOnError: false, keepPreviousData: true };

/** `tags` is null if the service has no such list. */
function toTagsState(tags: TagCount[] | null | undefined, failure: ApiFailure | undefined): TagsState {
  if (failure) return { state: "unknown", tags: tags ?? [], failure };
  if (tags === null) return { state: "absent", tags: [] };
  return tags ? { state: "present", tags } : { state: "asking", tags: [] };
}

/** The service's tags with this prefix, most used first. */
export function useTags(connectionId: string | undefined, prefix = ""): TagsState {
  const path =
    connectionId === undefined ? null : withQuery("/api/console/optional/tags", { prefix, limit: 100, connection: connectionId });
  const { data, error } = useSWR<TagCount[] | null, ApiFailure>(path, fetchTags, swrOptions);
  return toTagsState(data, error);
}

/** The tags of a view's assets, each with the number of assets. */
export function useRefinedTags(connectionId: string | undefined, query: AssetsQuery): TagsState {
  const { include_tags, exclude_tags, name_contains, metadata_filter, include_public } = query;
  const filters = { include_tags, exclude_tags, name_contains, metadata_filter, include_public };
  const path =
    connectionId === undefined
      ? null
      : withQuery("/api/console/optional/refined-tags", { ...filters, limit: 200, connection: connectionId });
  const { data, error } = useSWR<TagCount[] | null, ApiFailure>(path, fetchRefinedTags, swrOptions);
  return toTagsState(data, error);
}

async function fetchTags(path: `/${string}`): Promise<TagCount[] | null> {
  const result = await callApi<TagsResponse | null>(path);
  if (!result.ok) throw result.failure;
  return result.value?.tags ?? null;
}

async function fetchRefinedTags(path: `/${string}`): Promise<TagCount[] | null> {
  const result = await callApi<RefineResponse | null>(path);
  if (!result.ok) throw result.failure;
  if (result.value === null) return null;
  const counts = Object.entries(result.value.tag_counts).map(([name, count]) => ({ name, count }));
  return counts.sort((a, b) => b.count - a.count || a.name.localeCompare(b.name));
}
