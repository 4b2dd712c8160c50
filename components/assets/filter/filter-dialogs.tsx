import { useTranslations } from "next-intl";
import { type FormEvent, useState } from "react";
import { useFeature } from "@/components/frame/connection/connection-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { findCompletion, type TagCount, useRefinedTags, useTags } from "@/components/frame/tags/tags-input";
import { Button, chipStyle } from "@/components/ui/controls/button";
import { Input } from "@/components/ui/controls/fields";
import { Dialog, DialogFooter } from "@/components/ui/dialog";
import { useNumberFormat } from "@/components/ui/time";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { getTagState, type TagState, withTagState } from "../assets-urls";
import { MetadataEditor } from "../detail/edit-dialog";
import { type MetadataRow, type ParsedRows, parseFilter, parseRows, toFilter } from "./metadata-rows";

type MetadataDialogProps = { filter: string | undefined; onFilter: (filter: string | undefined) => void; onClose: () => void };

const emptyRow: MetadataRow = { path: "", type: "guess", value: "" };
const noProblems: ParsedRows["problems"] = new Map();

/** Filters assets by metadata. All values must match. */
export function MetadataDialog({ filter, onFilter, onClose }: MetadataDialogProps) {
  const t = useTranslations("assets.metadata");
  const common = useTranslations("common");
  const canFilter = useFeature("metadataFilter");
  const [rows, setRows] = useState(() => {
    const conditions = parseFilter(filter);
    return conditions.length > 0 ? conditions : [emptyRow];
  });
  const [problems, setProblems] = useState(noProblems);
  function applyFilter(event: FormEvent) {
    event.preventDefault();
    const result = parseRows(rows);
    setProblems(result.problems);
    if (result.problems.size > 0) return;
    onFilter(toFilter(result.metadata));
    onClose();
  }
  return (
    <Dialog isOpen onClose={onClose} title={t("filterTitle")} className="w-[min(620px,calc(100vw-32px))]">
      <form onSubmit={applyFilter}>
        <p className="mb-2">{t(canFilter ? "filterHint" : "filterLocal")}</p>
        {canFilter ? <MetadataEditor rows={rows} problems={problems} onRows={setRows} /> : null}
        <DialogFooter>
          {filter === undefined ? null : (
            <Button
              className="mr-auto"
              onClick={() => {
                onFilter(undefined);
                onClose();
              }}
            >
              {t("clear")}
            </Button>
          )}
          <Button onClick={onClose}>{common(canFilter ? "cancel" : "close")}</Button>
          {canFilter ? (
            <Button type="submit" tone="primary">
              {t("apply")}
            </Button>
          ) : null}
        </DialogFooter>
      </form>
    </Dialog>
  );
}

type TagDialogProps = {
  query: AssetsQuery;
  connectionId: string | undefined;
  /** Tags of the assets on the page, for services that cannot list tags. */
  loadedTags: readonly string[];
  onChange: (change: Pick<AssetsQuery, "include_tags" | "exclude_tags">) => void;
  onClose: () => void;
};

const MAX_SHOWN_TAGS = 100;

/** Selects the tags that assets must have or must not have. Selected tags narrow the suggestions. */
export function TagDialog({ query, connectionId, loadedTags, onChange, onClose }: TagDialogProps) {
  const t = useTranslations("assets.tags");
  const common = useTranslations("common");
  const [inputText, setInputText] = useState("");
  const searchText = inputText.trim();
  const tagsState = useTags(connectionId, searchText.includes(",") ? "" : searchText);
  const refinedTags = useRefinedTags(connectionId, query);
  // Late rows would move under the pointer, so they are shown once both requests have completed.
  const isLoading = connectionId !== undefined && (tagsState.state === "asking" || refinedTags.state === "asking");
  const [isReady, setReady] = useState(!isLoading);
  if (!isReady && !isLoading) setReady(true);
  const suggestedTags = !isReady
    ? []
    : getSuggestedTags({ listedTags: tagsState.tags, refinedTags: refinedTags.tags, loadedTags, query, searchText });
  const singleMatch = findCompletion(
    searchText,
    suggestedTags.map(({ name }) => name),
  );
  const canAddInput = searchText !== "" && !searchText.includes(",") && !suggestedTags.some(({ name }) => name === searchText);
  const setTagState = (tag: string, state: TagState) => {
    onChange(withTagState(query, tag, state));
    setInputText("");
  };
  return (
    <Dialog isOpen onClose={onClose} title={t("title")} actions="close">
      <form
        action={() => {
          if (searchText !== "" && !searchText.includes(",")) setTagState(singleMatch ?? searchText, "include");
        }}
      >
        <Input
          type="search"
          aria-label={t("search")}
          placeholder={t("searchPlaceholder")}
          value={inputText}
          maxLength={200}
          onChange={({ currentTarget }) => setInputText(currentTarget.value)}
        />
      </form>
      {searchText.includes(",") ? <p className="mt-1.5 text-sm text-bad">{t("comma")}</p> : null}
      {tagsState.state === "unknown" && tagsState.failure ? <FailureMessage failure={tagsState.failure} className="mt-2" /> : null}
      {tagsState.state === "absent" ? <p className="mt-1.5 text-sm text-ink-3">{t("seenOnly")}</p> : null}
      <ul aria-label={t("list")} className="mt-2 flex max-h-[44vh] flex-col overflow-y-auto">
        {canAddInput ? (
          <TagRow tag={{ name: searchText, count: undefined }} state={getTagState(query, searchText)} onStateChange={setTagState} />
        ) : null}
        {suggestedTags.slice(0, MAX_SHOWN_TAGS).map((tag) => (
          <TagRow key={tag.name} tag={tag} state={getTagState(query, tag.name)} onStateChange={setTagState} />
        ))}
      </ul>
      {suggestedTags.length > MAX_SHOWN_TAGS ? (
        <p className="mt-2 text-sm text-ink-3">{t("more", { count: suggestedTags.length - MAX_SHOWN_TAGS })}</p>
      ) : null}
      {!isReady ? <p className="mt-2">{common("loading")}</p> : null}
      {suggestedTags.length === 0 && !canAddInput && isReady ? <p className="mt-2">{t("none")}</p> : null}
    </Dialog>
  );
}

type TagRowProps = { tag: TagCount; state: TagState; onStateChange: (tag: string, state: TagState) => void };

function TagRow({ tag: { name, count }, state, onStateChange }: TagRowProps) {
  const t = useTranslations("assets.tags");
  const formatNumber = useNumberFormat();
  const toggle = (newState: TagState) => onStateChange(name, state === newState ? "any" : newState);
  return (
    <li className="flex items-center gap-1.5 py-1">
      <span title={name} className="min-w-0 flex-1 truncate text-ink">
        {name}
      </span>
      {count === undefined ? null : <span className="text-sm text-ink-3">{formatNumber(count)}</span>}
      <button
        type="button"
        aria-pressed={state === "include"}
        aria-label={t("includeTag", { tag: name })}
        onClick={() => toggle("include")}
        className={chipStyle(state === "include")}
      >
        {t("include")}
      </button>
      <button
        type="button"
        aria-pressed={state === "exclude"}
        aria-label={t("excludeTag", { tag: name })}
        onClick={() => toggle("exclude")}
        className={chipStyle(state === "exclude")}
      >
        {t("exclude")}
      </button>
    </li>
  );
}

type TagSources = {
  listedTags: readonly TagCount[];
  refinedTags: readonly TagCount[];
  loadedTags: readonly string[];
  query: AssetsQuery;
  searchText: string;
};

/** Tags of active filters first, then the tags of this view, then all others. */
function getSuggestedTags({ listedTags, refinedTags, loadedTags, query, searchText }: TagSources): TagCount[] {
  const countsByName = new Map<string, number | undefined>();
  const refinedCounts = new Map(refinedTags.map(({ name, count }) => [name, count]));
  const otherTags = loadedTags.map((name) => ({ name, count: undefined }));
  const queriedTags = [...(query.include_tags ?? []), ...(query.exclude_tags ?? [])].map((name) => ({
    name,
    count: refinedCounts.get(name),
  }));
  for (const { name, count } of [...queriedTags, ...refinedTags, ...listedTags, ...otherTags]) {
    const isMatch = name.toLowerCase().includes(searchText.toLowerCase());
    // The API separates tags by commas, so a tag with a comma can't be requested.
    if (isMatch && !name.includes(",") && !countsByName.has(name))
      countsByName.set(name, refinedCounts.get(name) ?? (refinedCounts.size > 0 ? undefined : count));
  }
  return [...countsByName].map(([name, count]) => ({ name, count }));
}
