import { Minus } from "lucide-react";
import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { useRef, useState } from "react";
import { useFeature } from "@/components/frame/connection/connection-context";
import { filterButton, FilterRow } from "@/components/frame/list/filters-panel";
import { ClearFilters, FiltersPopover } from "@/components/frame/list/filters-popover";
import { type ListState } from "@/components/frame/list/use-list-state";
import { cn } from "@/components/ui/cn";
import { Checkbox } from "@/components/ui/controls/checkbox";
import { chipStyle } from "@/components/ui/controls/chip";
import { SearchField } from "@/components/ui/controls/search-field";
import { Link } from "@/components/ui/link";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { isFiltered, ownTags, shownTags, tagState, unfiltered, withNextTagState } from "../assets-address";
import { readFilter } from "./metadata-rows";

const TagDialog = dynamic(() => import("./tag-dialog").then((module) => module.TagDialog), { ssr: false });
const MetadataDialog = dynamic(() => import("./metadata-dialog").then((module) => module.MetadataDialog), { ssr: false });

type AssetsFiltersProps = {
  place: ListState<AssetsQuery>;
  connectionId: string | undefined;
  /** Tags of the loaded assets, called when a person looks for a tag. */
  seenTags: () => string[];
};

/** Every filter is in the address: a reload, a link and Back show the same pictures. */
export function AssetsFilters({ place, connectionId, seenTags }: AssetsFiltersProps) {
  const t = useTranslations("assets");
  // If the address has a filter that the connection does not offer, it is still shown and can be removed.
  const canFilter = useFeature("metadataFilter");
  const [open, setOpen] = useState<"tags" | "metadata">();
  const { query, hrefOf, go } = place;
  const conditions = readFilter(query.metadata_filter).length;
  const close = () => setOpen(undefined);
  const more = useRef<HTMLButtonElement>(null);
  return (
    <>
      <SearchField
        aria-label={t("filter.name")}
        placeholder={t("filter.namePlaceholder")}
        text={query.name_contains ?? ""}
        maxLength={500}
        className="w-[150px] shrink-0 max-sm:w-[176px] 2xl:w-[220px]"
        onSearch={(name) => go({ name_contains: name || undefined })}
      />
      <div className="-my-1 -mr-2 -ml-1 flex min-w-0 items-center gap-2 overflow-x-auto mask-r-from-[calc(100%-12px)] py-1 pr-3 pl-1 empty:hidden max-md:contents">
        {shownTags(query).map((tag) => {
          const state = tagState(query, tag);
          return (
            <Link
              key={tag}
              href={hrefOf(withNextTagState(query, tag))}
              scroll={false}
              prefetch={false}
              onClick={(event) => {
                if (event.metaKey || event.ctrlKey || event.shiftKey) return;
                event.preventDefault();
                go(withNextTagState(query, tag));
                // This click removes the tag's chip (unless it is the interface's own tag), and the focus would be lost with it.
                if (state === "exclude" && !isOwn(tag)) more.current?.focus();
              }}
              aria-label={t(`filter.tag.${state}`, { tag })}
              className={chipStyle(
                state === "include",
                // Below 1400 px a tag that does not filter appears only in the dialog, once the focus has left its chip.
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
        ref={more}
        type="button"
        aria-haspopup="dialog"
        aria-label={t("filter.addTagLabel")}
        onClick={() => setOpen("tags")}
        className={chipStyle(false, "shrink-0")}
      >
        <span aria-hidden="true">+</span> {t("filter.addTag")}
      </button>
      <FiltersPopover count={conditions + (query.include_public ? 0 : 1)}>
        {canFilter || conditions > 0 ? (
          <FilterRow name={t("filter.metadata")}>
            <button type="button" aria-haspopup="dialog" onClick={() => setOpen("metadata")} className={filterButton}>
              <span className="flex-1">{t("filter.metadataCount", { count: conditions })}</span>
              <span aria-hidden="true">▾</span>
            </button>
          </FilterRow>
        ) : null}
        <label className="flex items-center gap-2">
          <Checkbox checked={query.include_public} onChange={() => go({ include_public: !query.include_public })} />
          {t("filter.shared")}
        </label>
        {open === "metadata" ? (
          <MetadataDialog filter={query.metadata_filter} onFilter={(metadata_filter) => go({ metadata_filter })} onClose={close} />
        ) : null}
      </FiltersPopover>
      <ClearFilters isSet={isFiltered(query)} onClear={() => go(unfiltered)} />
      {open === "tags" ? (
        <TagDialog query={query} connectionId={connectionId} seen={[...ownTags, ...seenTags()]} onChange={go} onClose={close} />
      ) : null}
    </>
  );
}

function isOwn(tag: string): boolean {
  return ownTags.some((own) => own === tag);
}
