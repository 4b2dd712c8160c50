import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { useMemo, useState } from "react";
import { PageControls, Paging } from "@/components/data-table/paging";
import { useSelectionValue } from "@/components/data-table/selection";
import { type ListState, useListQuery } from "@/components/frame/list/list-state";
import { Button } from "@/components/ui/controls/button";
import { Input } from "@/components/ui/controls/fields";
import { EmptyState } from "@/components/ui/empty-state";
import { ButtonLink } from "@/components/ui/link";
import { useNumberFormat } from "@/components/ui/time";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { MAX_PAGE_SIZE, useAssetRights } from "./asset-calls";
import { type AssetsLook, isFiltered, unfiltered } from "./assets-address";
import { type AssetAction, type Entry } from "./bulk/use-asset-bulk";
import { type AssetsSource } from "./gallery/chunk-store";
import { type Picking } from "./gallery/use-picking";

type AssetsFooterProps = {
  source: AssetsSource;
  hasMore: boolean | undefined;
  by: AssetsLook["by"];
  listState: ListState<AssetsQuery>;
  /** The first visible one, counted from 0. */
  firstIndex: number;
  onPagingChange: (by: AssetsLook["by"]) => void;
  onJump: (index: number) => void;
  onSelectAll: () => void;
};

/** On phones it is above the navigation, since the end of a long list can't be reached by scrolling. */
const bar =
  "sticky bottom-[calc(49px+env(safe-area-inset-bottom))] z-20 mt-auto flex h-11 shrink-0 items-center gap-3 border-t border-line bg-bg px-4 text-ink-3 md:bottom-0 md:px-5";

/** The position in the list, with page links or a field to jump to a position. */
export function AssetsFooter({ source, hasMore, by, listState, firstIndex, onPagingChange, onJump, onSelectAll }: AssetsFooterProps) {
  const t = useTranslations("assets.foot");
  const number = useNumberFormat();
  const query = useListQuery(listState);
  const { count, total } = source;
  const buttons = (
    <>
      <Button size="small" onClick={onSelectAll} className="max-sm:hidden">
        {t(by === "pages" ? "selectPage" : "selectView")}
      </Button>
      <Button size="small" onClick={() => onPagingChange(by === "pages" ? "endless" : "pages")}>
        {t(by === "pages" ? "toEndless" : "toPages")}
      </Button>
    </>
  );
  if (by === "pages") {
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
        <PageControls offset={query.offset} limit={query.limit} total={total} maxLimit={MAX_PAGE_SIZE} onGo={listState.go} />
      </Paging>
    );
  }
  const at = Math.min(count, firstIndex + 1);
  return (
    <nav data-lower-edge="" aria-label={t("label")} className={bar}>
      <span className="flex-1 truncate tabular-nums">
        {total === undefined
          ? t("placeOpen", { at: number(at) })
          : at <= 1
            ? t("all", { count: total })
            : t("place", { at: number(at), total: number(total) })}
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
          <Input name="place" inputMode="numeric" autoComplete="off" placeholder={number(1)} className="w-[88px] text-right" />
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
  const action = (href: string, label: string) => <ButtonLink href={href}>{label}</ButtonLink>;
  if (query.offset > 0)
    return (
      <EmptyState title={t("empty.pastEnd")} text={t("empty.pastEndText")} action={action(getHref({ offset: 0 }), t("empty.firstPage"))} />
    );
  if (isFiltered(query)) {
    return (
      <EmptyState title={t("empty.filteredTitle")} text={t("empty.filteredText")} action={action(getHref(unfiltered), t("filter.reset"))} />
    );
  }
  return <EmptyState title={t("empty.title")} text={t("empty.text")} action={canChange ? action("/run", t("empty.run")) : undefined} />;
}

const BulkBar = dynamic(() => import("./bulk/bulk-bar").then((module) => module.BulkBar), { ssr: false });

type AssetsSelectedProps = {
  picking: Picking;
  query: AssetsQuery;
  total: number | undefined;
  connectionId?: string;
  connection?: string;
  canChange: boolean;
  onDone: (assetAct: AssetAction, entries: readonly Entry[]) => void;
  onCompare: (ids: readonly string[]) => void;
};

/** Mounted on the first selection, and stays mounted to show results. */
export function AssetsSelected(props: AssetsSelectedProps) {
  const { store } = props.picking;
  const hasSelection = useSelectionValue(store, () => store.ids().size > 0);
  const [hadSelection, setHadSelection] = useState(false);
  if (hasSelection && !hadSelection) setHadSelection(true);
  return hadSelection ? <Selected {...props} /> : null;
}

/** The selection: a list of assets, or all that match. */
function Selected({ picking, query, total, connectionId, connection, canChange, onDone, onCompare }: AssetsSelectedProps) {
  const rights = useAssetRights(connectionId, canChange);
  const { store, chosen } = picking;
  const ids = useSelectionValue(store, store.ids);
  const isMatching = useSelectionValue(store, store.isMatching);
  const selected = useMemo(
    () =>
      isMatching
        ? { kind: "matching" as const, query, total: total ?? ids.size, loadedAssets: chosen() }
        : { kind: "named" as const, assets: ids.size > 0 ? chosen() : [] },
    [isMatching, ids, query, total, chosen],
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
      isReading={picking.isReading}
      total={total}
      onAll={hasMoreMatches && !isMatching ? picking.all : undefined}
    />
  );
}
