"use client";

import dynamic from "next/dynamic";
import { useSearchParams } from "next/navigation";
import { useTranslations } from "next-intl";
import { use, useCallback, useMemo, useRef, useState } from "react";
import { UploadMenu } from "@/components/assets/assets-tools";
import { NewRows } from "@/components/data-table/paused-rows";
import { useConnection } from "@/components/frame/connection/connection-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { type ListAddress, useIsNavigating, useListState, useOpenPanel, useOpenPanelId } from "@/components/frame/list/list-state";
import { Freshness, ToolBar, UnreadableRows } from "@/components/frame/list/tool-bar";
import { PageHeader } from "@/components/frame/page-header";
import { ContentSkeleton } from "@/components/frame/page-skeleton";
import { useStoredAssets } from "@/components/frame/stored-assets";
import { Button } from "@/components/ui/controls/button";
import { useRouter } from "@/components/ui/link";
import { useShownItem, useViewing } from "@/components/viewer/use-viewing";
import { type TimedValue } from "@/lib/browser/live/use-live";
import { type Failure, isMissingOperation } from "@/lib/contract/failure";
import { isAddressableId } from "@/lib/contract/params";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type Result } from "@/lib/shared/result";
import { getAssetHref } from "./asset-api";
import { AssetsEmpty, AssetsFooter, AssetsSelection } from "./assets-footer";
import { AssetsFilters, AssetsTools, useDisplayOptions } from "./assets-tools";
import { type AssetPage, emptyFilters, getAssetsHref, getListKey, isFiltered } from "./assets-urls";
import { type AssetAction, type Entry } from "./bulk/use-asset-bulk";
import { Gallery, type GalleryHandle } from "./gallery/gallery";
import { useAssetSelection } from "./gallery/use-asset-selection";
import { combinePageWithList, storeOffsetInUrl, useEndlessAssets, usePagedAssets } from "./gallery/use-assets-source";

const AssetPanel = dynamic(() => import("./asset-panel").then((module) => module.AssetPanel), { ssr: false });
const AssetsCompare = dynamic(() => import("./assets-viewer").then((module) => module.AssetsCompare), { ssr: false });
const AssetsViewer = dynamic(() => import("./assets-viewer").then((module) => module.AssetsViewer), { ssr: false });
/** Without `loading` the whole page would suspend. */
const AssetsTable = dynamic(() => import("./gallery/assets-table").then((module) => module.AssetsTable), {
  loading: () => <ContentSkeleton layout="rows" />,
});

type AssetsScreenProps = {
  /** In an endless list, the query of the first visible chunk. */
  query: AssetsQuery;
  /** `?connection=` of the URL, if present. */
  connection?: string;
  /** Set if there is a default view, since the plain list then needs `view=all` in its URL. */
  view?: "all";
  canChange: boolean;
  assets: Promise<Result<TimedValue<AssetPage>, Failure>>;
};

export function AssetsScreen({ query, connection, view, canChange, assets: assetsPromise }: AssetsScreenProps) {
  const t = useTranslations("assets");
  const router = useRouter();
  const initialResult = use(assetsPromise);
  const connectionId = useConnection()?.id;
  const [displayOptions, setDisplayOptions] = useDisplayOptions();
  const isPaged = displayOptions.by === "pages";
  const address = useMemo(
    (): ListAddress<AssetsQuery> => ({
      getKey: getAssetsHref,
      getHref: (nextQuery) => getAssetsHref(nextQuery, { displayOptions, connection, view }),
      push: (href, shouldReplace) => router[shouldReplace ? "replace" : "push"](href),
    }),
    [router, displayOptions, connection, view],
  );
  const listState = useListState(query, address);
  const isNavigating = useIsNavigating(listState);
  const endlessSource = useEndlessAssets({ query, connectionId, initialResult, isEnabled: !isPaged });
  const pagedSource = usePagedAssets({ query, connectionId, initialResult, isEnabled: isPaged });
  const source = isPaged ? pagedSource : endlessSource;
  const { failure } = source;
  // The service doesn't support assets, so there is nothing to filter, add or retry.
  const isUnsupported = failure !== undefined && isMissingOperation(failure);
  const selection = useAssetSelection(source, getListKey(query) + (isPaged ? query.offset : ""));
  useStoredAssets(source.refresh);

  const getPageHref = useCallback((id: string) => getAssetHref(id, connection), [connection]);
  const openPanel = useOpenPanel("asset", getPageHref);
  const openId = useOpenPanelId(openPanel);
  const goToPage = useCallback((id: string) => void (isAddressableId(id) && router.push(getPageHref(id))), [router, getPageHref]);
  const searchParams = useSearchParams();
  // Each combination of filters has its own scroll position.
  const galleryKey = `${getListKey(query)} ${displayOptions.by} ${isPaged ? query.offset : ""}`;
  const startIndex = useInitialOffset(galleryKey, isPaged ? 0 : (parseOffset(searchParams?.get("offset")) ?? query.offset));
  const [scrollPosition, setScrollPosition] = useState({ galleryKey, index: startIndex });
  const firstIndex = scrollPosition.galleryKey === galleryKey ? scrollPosition.index : startIndex;
  const gallery = useRef<GalleryHandle>(undefined);
  /** Calls to the gallery while its code is still loading. */
  const pendingActions = useRef<{ galleryKey: string; action: (handle: GalleryHandle) => void }[]>([]);
  const handleReady = useCallback(
    (handle: GalleryHandle | undefined) => {
      gallery.current = handle;
      if (!handle) return;
      const dueActions = pendingActions.current.filter((item) => item.galleryKey === galleryKey);
      pendingActions.current = [];
      for (const { action } of dueActions) queueMicrotask(() => action(gallery.current ?? handle)); // An effect must not render synchronously.
    },
    [galleryKey],
  );
  const withGallery = (action: (handle: GalleryHandle) => void) =>
    gallery.current ? action(gallery.current) : void pendingActions.current.push({ galleryKey, action });
  const handleScrollEnd = useCallback(
    (index: number) => {
      setScrollPosition({ galleryKey, index });
      if (!isPaged) storeOffsetInUrl(index);
    },
    [isPaged, galleryKey],
  );
  const viewerSource = isPaged ? combinePageWithList(pagedSource, query.offset, endlessSource) : endlessSource;
  const pageOffset = isPaged ? query.offset : 0;
  const viewing = useViewing({
    indexOf: viewerSource.indexOf,
    getId: (index) => viewerSource.at(index)?.id,
    onSettled: isPaged ? undefined : storeOffsetInUrl,
    onClosed: (index) => {
      const isOnPage = index >= pageOffset && index < pageOffset + source.count;
      if (!isOnPage) return listState.navigate({ offset: Math.floor(index / query.limit) * query.limit });
      gallery.current?.reveal(index - pageOffset);
      // Focuses the last viewed asset, since the original tile may have been scrolled away.
      focusTile(viewerSource.at(index)?.id);
    },
  });
  const openViewer = (index: number) => viewing.open(pageOffset + index);
  const comparison = useShownItem("compare");
  const compare = useCallback((ids: readonly string[]) => comparison.open(ids.join(",")), [comparison]);
  function handleDone(action: AssetAction, entries: readonly Entry[]) {
    // Tags are updated in place, so that the layout doesn't shift.
    if (action.kind === "delete") return source.refresh();
    const shownIds = new Set(source.getRows().map(({ id }) => id));
    for (const { id, allTags } of entries) if (allTags && shownIds.has(id)) source.patch(id, (asset) => ({ ...asset, tags: [...allTags] }));
  }
  const sharedProps = {
    source,
    selection,
    connectionId,
    connection,
    openId,
    startIndex: Math.min(startIndex, Math.max(0, source.count - 1)),
    onOpen: openPanel.open,
    onPage: goToPage,
    onView: openViewer,
    onScrollEnd: handleScrollEnd,
    onReady: handleReady,
  };
  return (
    <>
      <PageHeader title={t("title")} count={source.total}>
        {isUnsupported ? null : <Freshness atMs={source.atMs} isFailing={failure !== undefined} />}
        {canChange && !isUnsupported ? <UploadMenu /> : null}
      </PageHeader>
      {isUnsupported ? null : (
        <ToolBar label={t("filter.label")}>
          {/* The filters scroll next to the fixed view tools, and fade out at the edge. */}
          <div className="flex min-w-0 flex-1 items-center gap-2 max-md:contents md:-my-1 md:-ml-1 md:overflow-x-auto md:mask-r-from-[calc(100%-16px)] md:py-1 md:pr-4 md:pl-1">
            <AssetsFilters
              listState={listState}
              connectionId={connectionId}
              getLoadedTags={() => [...new Set(source.getRows().flatMap(({ tags }) => tags))].sort()}
            />
          </div>
          <AssetsTools
            listState={listState}
            displayOptions={displayOptions}
            onDisplayOptionsChange={setDisplayOptions}
            onView={source.count > 0 && !source.isEmpty ? () => openViewer(firstIndex) : undefined}
            canShare={canChange}
          />
        </ToolBar>
      )}
      <div className="flex flex-1 items-start">
        <div className="flex min-w-0 flex-1 flex-col self-stretch">
          {failure ? (
            <FailureMessage
              failure={failure}
              onRetry={source.refresh}
              actions={
                failure.status === 400 && isFiltered(query) ? (
                  <Button onClick={() => listState.navigate(emptyFilters)}>{t("filter.reset")}</Button>
                ) : null
              }
              // Always visible above the list.
              className="sticky top-[57px] z-10 mx-4 mt-4 md:top-[111px] md:mx-5"
            />
          ) : null}
          <UnreadableRows count={source.unreadable} />
          <NewRows
            count={source.newCount}
            text={t("grid.waiting", { count: source.newCount })}
            onFirstPage={isPaged && query.offset > 0 ? () => listState.navigate({ offset: 0 }) : undefined}
          />
          {!source.isEmpty && source.count === 0 && !source.unreadable ? <AssetsEmpty listState={listState} canChange={canChange} /> : null}
          {source.count > 0 && !source.isEmpty && displayOptions.look === "gallery" ? (
            <div aria-busy={isNavigating || undefined} className={isNavigating ? "opacity-60" : undefined}>
              <Gallery
                key={galleryKey}
                {...sharedProps}
                size={displayOptions.size}
                fit={displayOptions.fit === "whole" ? "contain" : "cover"}
              />
            </div>
          ) : null}
          {source.count > 0 && !source.isEmpty && displayOptions.look === "table" ? (
            <AssetsTable key={galleryKey} {...sharedProps} listState={listState} />
          ) : null}
          <AssetsSelection
            selection={selection}
            query={query}
            total={source.total}
            connectionId={connectionId}
            connection={connection}
            canChange={canChange}
            onDone={handleDone}
            onCompare={compare}
          />
        </div>
        {openId === undefined ? null : (
          <AssetPanel
            id={openId}
            listedAsset={source.at(source.indexOf(openId))}
            connectionId={connectionId}
            connection={connection}
            canChange={canChange}
            onClose={() => {
              openPanel.close();
              focusTile(openId);
            }}
            onPatch={source.patch}
            onDeleted={(id) => {
              if (openPanel.has(id)) openPanel.close();
              source.refresh();
            }}
          />
        )}
      </div>
      {viewing.isOpen ? (
        <AssetsViewer
          source={viewerSource}
          viewing={viewing}
          onCompare={compare}
          isCovered={comparison.value !== undefined}
          connectionId={connectionId}
          connection={connection}
        />
      ) : null}
      {comparison.value === undefined ? null : (
        <AssetsCompare
          key={comparison.value}
          idList={comparison.value}
          findAsset={(id) => source.at(source.indexOf(id))}
          connectionId={connectionId}
          connection={connection}
          onClose={comparison.close}
        />
      )}
      {source.isEmpty || (source.count === 0 && !isPaged) ? null : (
        <AssetsFooter
          source={source}
          hasMore={pagedSource.hasMore}
          pagingMode={displayOptions.by}
          listState={listState}
          firstIndex={firstIndex}
          onPagingChange={(pagingMode) => {
            const offset = pagingMode === "pages" ? Math.floor(firstIndex / query.limit) * query.limit : query.offset;
            router.push(getAssetsHref({ ...query, offset }, { displayOptions: { ...displayOptions, by: pagingMode }, connection, view }));
          }}
          onJump={(index) => withGallery(({ jumpTo }) => jumpTo(index))}
          onSelectAll={() => withGallery(({ getVisibleIndexes }) => selection.updateBand(getVisibleIndexes(), selection.store.getIds()))}
        />
      )}
    </>
  );
}

/** The URL's offset when the list was opened. Scrolling changes the URL, but not this value. */
function useInitialOffset(galleryKey: string, offset: number): number {
  const [initialState, setInitialState] = useState({ galleryKey, offset });
  if (initialState.galleryKey === galleryKey) return initialState.offset;
  setInitialState({ galleryKey, offset });
  return offset;
}

function focusTile(id: string | undefined): void {
  if (id !== undefined) document.querySelector<HTMLElement>(`[data-asset="${CSS.escape(id)}"]`)?.focus({ preventScroll: true });
}

function parseOffset(text: string | null | undefined): number | undefined {
  return text && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
