import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { useMemo, useState } from "react";
import { PageControls, Paging } from "@/components/data-table/paging";
import { useSelectionValue } from "@/components/data-table/selection";
import { type ListState, useListQuery } from "@/components/frame/list/list-state";
import { RunLink } from "@/components/frame/list/tool-bar";
import { Button } from "@/components/ui/controls/button";
import { Input } from "@/components/ui/controls/fields";
import { EmptyState } from "@/components/ui/empty-state";
import { ButtonLink } from "@/components/ui/link";
import { useNumberFormat } from "@/components/ui/time";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { MAX_PAGE_SIZE, useAssetRights } from "./asset-api";
import { type AssetsDisplayOptions, emptyFilters, isFiltered } from "./assets-urls";
import { type AssetAction, type Entry } from "./bulk/use-asset-bulk";
import { type AssetsSource } from "./gallery/chunk-store";
import { type AssetSelection } from "./gallery/use-asset-selection";

type AssetsFooterProps = {
  source: AssetsSource;
  hasMore: boolean | undefined;
  pagingMode: AssetsDisplayOptions["by"];
  listState: ListState<AssetsQuery>;
  /** Zero-based index of the first visible asset. */
  firstIndex: number;
  onPagingChange: (pagingMode: AssetsDisplayOptions["by"]) => void;
  onJump: (index: number) => void;
  onSelectAll: () => void;
};

/** On phones, the footer stays above the navigation, since the end of a long list can't be reached by scrolling. */
const footerStyle =
  "sticky bottom-[calc(49px+env(safe-area-inset-bottom))] z-20 mt-auto flex h-11 shrink-0 items-center gap-3 border-t border-line bg-bg px-4 text-ink-3 md:bottom-0 md:px-5";

/** The position in the list, with page links or a field to jump to a position. */
export function AssetsFooter({
  source,
  hasMore,
  pagingMode,
  listState,
  firstIndex,
  onPagingChange,
  onJump,
  onSelectAll,
}: AssetsFooterProps) {
  const t = useTranslations("assets.foot");
  const formatNumber = useNumberFormat();
  const query = useListQuery(listState);
  const { count, total } = source;
  const buttons = (
    <>
      <Button size="small" onClick={onSelectAll} className="max-sm:hidden">
        {t(pagingMode === "pages" ? "selectPage" : "selectView")}
      </Button>
      <Button size="small" onClick={() => onPagingChange(pagingMode === "pages" ? "endless" : "pages")}>
        {t(pagingMode === "pages" ? "toEndless" : "toPages")}
      </Button>
    </>
  );
  if (pagingMode === "pages") {
    return (
      <Paging
        offset={query.offset}
        limit={query.limit}
        count={count}
        total={total}
        hasMore={hasMore}
        getHref={(offset) => listState.getHref({ offset })}
        className="mt-auto md:sticky md:bottom-0 md:z-20"
      >
        {buttons}
        <PageControls offset={query.offset} limit={query.limit} total={total} maxLimit={MAX_PAGE_SIZE} onNavigate={listState.navigate} />
      </Paging>
    );
  }
  const currentPosition = Math.min(count, firstIndex + 1);
  return (
    <nav data-lower-edge="" aria-label={t("label")} className={footerStyle}>
      <span className="flex-1 truncate tabular-nums">
        {total === undefined
          ? t("placeOpen", { at: formatNumber(currentPosition) })
          : currentPosition <= 1
            ? t("all", { count: total })
            : t("place", { at: formatNumber(currentPosition), total: formatNumber(total) })}
      </span>
      {buttons}
      <form
        className="flex items-center gap-1.5 whitespace-nowrap"
        onSubmit={(event) => {
          event.preventDefault();
          const position = Number(String(new FormData(event.currentTarget).get("place")).replaceAll(/\D/g, ""));
          if (position > 0) onJump(Math.min(count, position) - 1);
        }}
      >
        <label className="flex items-center gap-1.5">
          {t("jump")}
          <Input name="place" inputMode="numeric" autoComplete="off" placeholder={formatNumber(1)} className="w-[88px] text-right" />
        </label>
        <Button type="submit" size="small" className="max-sm:hidden">
          {t("go")}
        </Button>
      </form>
    </nav>
  );
}

export function AssetsEmpty({ listState, canChange }: { listState: ListState<AssetsQuery>; canChange: boolean }) {
  const query = useListQuery(listState);
  const { getHref } = listState;
  const t = useTranslations("assets");
  const renderLink = (href: string, label: string) => <ButtonLink href={href}>{label}</ButtonLink>;
  if (query.offset > 0)
    return (
      <EmptyState
        title={t("empty.pastEnd")}
        text={t("empty.pastEndText")}
        action={renderLink(getHref({ offset: 0 }), t("empty.firstPage"))}
      />
    );
  if (isFiltered(query)) {
    return (
      <EmptyState
        title={t("empty.filteredTitle")}
        text={t("empty.filteredText")}
        action={renderLink(getHref(emptyFilters), t("filter.reset"))}
      />
    );
  }
  return <EmptyState title={t("empty.title")} text={t("empty.text")} action={canChange ? <RunLink /> : undefined} />;
}

const BulkBar = dynamic(() => import("./bulk/bulk-bar").then((module) => module.BulkBar), { ssr: false });

type AssetsSelectionProps = {
  selection: AssetSelection;
  query: AssetsQuery;
  total: number | undefined;
  connectionId?: string;
  connection?: string;
  canChange: boolean;
  onDone: (action: AssetAction, entries: readonly Entry[]) => void;
  onCompare: (ids: readonly string[]) => void;
};

/** Mounts on the first selection, and stays mounted to show results. */
export function AssetsSelection(props: AssetsSelectionProps) {
  const { store } = props.selection;
  const hasSelection = useSelectionValue(store, () => store.getIds().size > 0);
  const [hadSelection, setHadSelection] = useState(false);
  if (hasSelection && !hadSelection) setHadSelection(true);
  return hadSelection ? <SelectionBulkBar {...props} /> : null;
}

/** The selection is a list of assets, or all assets that match the query. */
function SelectionBulkBar({ selection, query, total, connectionId, connection, canChange, onDone, onCompare }: AssetsSelectionProps) {
  const rights = useAssetRights(connectionId, canChange);
  const { store, getSelectedAssets } = selection;
  const ids = useSelectionValue(store, store.getIds);
  const isMatching = useSelectionValue(store, store.isMatching);
  const selected = useMemo(
    () =>
      isMatching
        ? { kind: "matching" as const, query, total: total ?? ids.size, loadedAssets: getSelectedAssets() }
        : { kind: "named" as const, assets: ids.size > 0 ? getSelectedAssets() : [] },
    [isMatching, ids, query, total, getSelectedAssets],
  );
  const hasMoreMatches = total !== undefined && total > ids.size;
  return (
    <BulkBar
      selected={selected}
      connectionId={connectionId}
      connection={connection}
      rights={rights}
      onDone={onDone}
      onCompare={onCompare}
      onClear={store.clear}
      onRestored={store.add}
      isLoading={selection.isLoading}
      total={total}
      onSelectAll={hasMoreMatches && !isMatching ? selection.selectAll : undefined}
    />
  );
}
