import { Expand, Grid2x2, List, Maximize, Minimize, Minus } from "lucide-react";
import dynamic from "next/dynamic";
import { useSearchParams } from "next/navigation";
import { useTranslations } from "next-intl";
import { useCallback, useMemo, useRef, useState } from "react";
import { useConnection, useConnectionParam, useFeature } from "@/components/frame/connection/connection-context";
import { filterButtonStyle, FilterRow } from "@/components/frame/list/filters-panel";
import { ClearFilters, FiltersPopover } from "@/components/frame/list/filters-popover";
import { type ListState, useListQuery } from "@/components/frame/list/list-state";
import { getUploadSources, openUploadSource } from "@/components/frame/upload-sources";
import { cn } from "@/components/ui/cn";
import { Button, chipStyle, IconButton } from "@/components/ui/controls/button";
import { CheckField, Options, SearchField, Select } from "@/components/ui/controls/fields";
import { Menu } from "@/components/ui/controls/menu";
import { Link } from "@/components/ui/link";
import { parseSearch, toSearchValues } from "@/lib/contract/params";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import {
  type AssetsDisplayOptions,
  builtInTags,
  displayParams,
  emptyFilters,
  getAssetsHref,
  getSavedViewHref,
  getTagState,
  getVisibleTags,
  isFiltered,
  sortOptions,
  withNextTagState,
} from "./assets-urls";
import { parseFilter } from "./filter/metadata-rows";
import { tileSizes } from "./gallery/gallery-layout";

const ViewsDialog = dynamic(() => import("@/components/frame/list/list-dialogs").then((module) => module.ViewsDialog), { ssr: false });

type AssetsToolsProps = {
  listState: ListState<AssetsQuery>;
  displayOptions: AssetsDisplayOptions;
  onDisplayOptionsChange: (change: Partial<AssetsDisplayOptions>) => void;
  /** Absent if there are no assets. */
  onView: (() => void) | undefined;
  canShare: boolean;
};

/** The view controls on the right of the toolbar. */
export function AssetsTools({ listState, displayOptions, onDisplayOptionsChange, onView, canShare }: AssetsToolsProps) {
  const connectionParam = useConnectionParam();
  const t = useTranslations("assets");
  const query = useListQuery(listState);
  const [isOpen, setOpen] = useState(false);
  const isGallery = displayOptions.look === "gallery";
  const getPressedStyle = (isPressed: boolean) => (isPressed ? "border-ink bg-off-soft" : undefined);
  return (
    <>
      <SortSelect listState={listState} />
      <Button aria-haspopup="dialog" onClick={() => setOpen(true)}>
        {useTranslations("savedViews")("open")} <span aria-hidden="true">▾</span>
      </Button>
      {onView ? <IconButton icon={Expand} label={t("look.view")} onClick={onView} /> : null}
      <IconButton
        icon={Grid2x2}
        label={t("look.gallery")}
        aria-pressed={isGallery}
        onClick={() => onDisplayOptionsChange({ look: "gallery" })}
        className={getPressedStyle(isGallery)}
      />
      <IconButton
        icon={List}
        label={t("look.table")}
        aria-pressed={!isGallery}
        onClick={() => onDisplayOptionsChange({ look: "table" })}
        className={getPressedStyle(!isGallery)}
      />
      {isGallery ? (
        <>
          <input
            type="range"
            min={0}
            max={tileSizes.length - 1}
            step={1}
            value={tileSizes.indexOf(displayOptions.size)}
            aria-label={t("look.size")}
            aria-valuetext={t(`look.sizes.${displayOptions.size}`)}
            title={t("look.size")}
            onChange={({ currentTarget }) => onDisplayOptionsChange({ size: tileSizes[Number(currentTarget.value)] ?? "medium" })}
            className="w-[72px] shrink-0"
          />
          <IconButton
            icon={displayOptions.fit === "whole" ? Maximize : Minimize}
            label={t("look.whole")}
            aria-pressed={displayOptions.fit === "whole"}
            onClick={() => onDisplayOptionsChange({ fit: displayOptions.fit === "whole" ? "fill" : "whole" })}
            className={getPressedStyle(displayOptions.fit === "whole")}
          />
        </>
      ) : null}
      {isOpen ? (
        <ViewsDialog
          screen="assets"
          query={getAssetsHref({ ...query, offset: 0 }, { displayOptions }).split("?")[1] ?? ""}
          getHref={(savedQuery) => getSavedViewHref(savedQuery, connectionParam)}
          canShare={canShare}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </>
  );
}

/** Offers all five sort fields in both directions. */
function SortSelect({ listState }: { listState: ListState<AssetsQuery> }) {
  const query = useListQuery(listState);
  const t = useTranslations("assets");
  const sortOption = sortOptions.find(({ sort, order }) => sort === query.sort && order === query.order);
  return (
    <Select
      aria-label={t("filter.sort")}
      value={sortOption?.key ?? ""}
      onChange={({ currentTarget }) => {
        const sortOption = sortOptions.find(({ key }) => key === currentTarget.value);
        if (sortOption) listState.navigate({ sort: sortOption.sort, order: sortOption.order });
      }}
      className="max-w-[126px] shrink-0 border-transparent bg-transparent text-ink-3 max-sm:text-[13px]"
    >
      <Options of={sortOptions.map(({ key }) => [key, t(`sort.${key}`)])} />
    </Select>
  );
}

/** A menu of all upload sources. */
export function UploadMenu() {
  const t = useTranslations("frame.ways");
  const sources = getUploadSources(useConnection());
  return (
    <Menu
      tone="primary"
      label={t("label")}
      items={sources.map((source) => ({ key: source, label: t(source), onSelect: () => openUploadSource(source) }))}
    />
  );
}

/** The display options in the URL. A change updates only the URL, without a server request. */
export function useDisplayOptions(): [AssetsDisplayOptions, (change: Partial<AssetsDisplayOptions>) => void] {
  const searchParams = useSearchParams();
  const displayOptions = useMemo(() => parseSearch(displayParams, new URLSearchParams(searchParams ?? "")).query, [searchParams]);
  const updateOptions = useCallback(
    (changes: Partial<AssetsDisplayOptions>) => {
      const url = new URL(window.location.href);
      for (const [name, value] of Object.entries(toSearchValues(displayParams, { ...displayOptions, ...changes }))) {
        if (value === undefined) url.searchParams.delete(name);
        else url.searchParams.set(name, String(value));
      }
      window.history.replaceState(null, "", url.pathname + url.search);
    },
    [displayOptions],
  );
  return [displayOptions, updateOptions];
}

const TagDialog = dynamic(() => import("./filter/filter-dialogs").then((module) => module.TagDialog), { ssr: false });
const MetadataDialog = dynamic(() => import("./filter/filter-dialogs").then((module) => module.MetadataDialog), { ssr: false });

type AssetsFiltersProps = {
  listState: ListState<AssetsQuery>;
  connectionId: string | undefined;
  /** Returns the tags of the loaded assets. */
  getLoadedTags: () => string[];
};

/** All filters are in the URL, so that reloads, shared links and Back show the same assets. */
export function AssetsFilters({ listState, connectionId, getLoadedTags }: AssetsFiltersProps) {
  const t = useTranslations("assets");
  // A filter in the URL that the connection does not support is still shown, so that it can be removed.
  const canFilter = useFeature("metadataFilter");
  const [openDialog, setOpenDialog] = useState<"tags" | "metadata">();
  const query = useListQuery(listState);
  const { getHref, navigate } = listState;
  const conditionCount = parseFilter(query.metadata_filter).length;
  const close = () => setOpenDialog(undefined);
  const moreButton = useRef<HTMLButtonElement>(null);
  return (
    <>
      <SearchField
        aria-label={t("filter.name")}
        placeholder={t("filter.namePlaceholder")}
        text={query.name_contains ?? ""}
        maxLength={500}
        className="w-[150px] shrink-0 max-sm:w-[176px] 2xl:w-[220px]"
        onSearch={(name) => navigate({ name_contains: name || undefined }, true)}
      />
      <div className="-my-1 -mr-2 -ml-1 flex min-w-0 items-center gap-2 overflow-x-auto mask-r-from-[calc(100%-12px)] py-1 pr-3 pl-1 empty:hidden max-md:contents">
        {getVisibleTags(query).map((tag) => {
          const state = getTagState(query, tag);
          return (
            <Link
              key={tag}
              href={getHref(withNextTagState(query, tag))}
              scroll={false}
              prefetch={false}
              onClick={(event) => {
                if (event.metaKey || event.ctrlKey || event.shiftKey) return;
                event.preventDefault();
                navigate(withNextTagState(query, tag));
                // This click removes the tag's chip unless the tag is built in, and the focus would be lost.
                if (state === "exclude" && !isBuiltInTag(tag)) moreButton.current?.focus();
              }}
              aria-label={t(`filter.tag.${state}`, { tag })}
              className={chipStyle(
                state === "include",
                // Below 1400 px, unfocused chips of inactive tags are hidden; the dialog still lists them.
                cn("max-w-48 shrink-0 xl:max-w-none", state === "any" && "max-[1399px]:not-focus:hidden"),
                state === "exclude",
              )}
            >
              {state === "exclude" ? <Minus aria-hidden="true" className="size-3.5 shrink-0" /> : null}
              <span className="truncate">{tag}</span>
            </Link>
          );
        })}
      </div>
      <button
        ref={moreButton}
        type="button"
        aria-haspopup="dialog"
        aria-label={t("filter.addTagLabel")}
        onClick={() => setOpenDialog("tags")}
        className={chipStyle(false, "shrink-0")}
      >
        <span aria-hidden="true">+</span> {t("filter.addTag")}
      </button>
      <FiltersPopover count={conditionCount + (query.include_public ? 0 : 1)}>
        {canFilter || conditionCount > 0 ? (
          <FilterRow name={t("filter.metadata")}>
            <button type="button" aria-haspopup="dialog" onClick={() => setOpenDialog("metadata")} className={filterButtonStyle}>
              <span className="flex-1">{t("filter.metadataCount", { count: conditionCount })}</span>
              <span aria-hidden="true">▾</span>
            </button>
          </FilterRow>
        ) : null}
        <CheckField
          label={t("filter.shared")}
          checked={query.include_public}
          onChange={() => navigate({ include_public: !query.include_public })}
        />
        {openDialog === "metadata" ? (
          <MetadataDialog filter={query.metadata_filter} onFilter={(metadata_filter) => navigate({ metadata_filter })} onClose={close} />
        ) : null}
      </FiltersPopover>
      <ClearFilters isSet={isFiltered(query)} onClear={() => navigate(emptyFilters)} />
      {openDialog === "tags" ? (
        <TagDialog
          query={query}
          connectionId={connectionId}
          loadedTags={[...builtInTags, ...getLoadedTags()]}
          onChange={navigate}
          onClose={close}
        />
      ) : null}
    </>
  );
}

function isBuiltInTag(tag: string): boolean {
  return builtInTags.some((builtInTag) => builtInTag === tag);
}
