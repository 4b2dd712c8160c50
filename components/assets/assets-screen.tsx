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
import { useShown, useViewing } from "@/components/viewer/use-viewing";
import { type TimedValue } from "@/lib/browser/live/use-live";
import { type Failure, isMissingOperation } from "@/lib/contract/failure";
import { isAddressableId } from "@/lib/contract/params";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type Result } from "@/lib/shared/result";
import { assetHref } from "./asset-calls";
import { type AssetPage, assetsHref, getListKey, isFiltered, unfiltered } from "./assets-address";
import { AssetsEmpty, AssetsFooter, AssetsSelected } from "./assets-footer";
import { AssetsFilters, AssetsTools, useLook } from "./assets-tools";
import { type AssetAction, type Entry } from "./bulk/use-asset-bulk";
import { Gallery, type GalleryHandle } from "./gallery/gallery";
import { aroundPage, storeOffsetInUrl, useEndless, usePaged } from "./gallery/use-endless";
import { usePicking } from "./gallery/use-picking";

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
  const first = use(assetsPromise);
  const connectionId = useConnection()?.id;
  const [look, setLook] = useLook();
  const isPaged = look.by === "pages";
  const address = useMemo(
    (): ListAddress<AssetsQuery> => ({
      keyOf: assetsHref,
      getHref: (next) => assetsHref(next, { look, connection, view }),
      push: (href, isReplacing) => router[isReplacing ? "replace" : "push"](href),
    }),
    [router, look, connection, view],
  );
  const listState = useListState(query, address);
  const isNavigating = useIsNavigating(listState);
  const endless = useEndless({ query, connectionId, first, isOn: !isPaged });
  const paged = usePaged({ query, connectionId, first, isOn: isPaged });
  const source = isPaged ? paged : endless;
  const { failure } = source;
  // The service doesn't support assets, so there is nothing to filter, add or retry.
  const isUnsupported = failure !== undefined && isMissingOperation(failure);
  const picking = usePicking(source, getListKey(query) + (isPaged ? query.offset : ""));
  useStoredAssets(source.refresh);

  const getPageHref = useCallback((id: string) => assetHref(id, connection), [connection]);
  const openPanel = useOpenPanel("asset", getPageHref);
  const openId = useOpenPanelId(openPanel);
  const goToPage = useCallback((id: string) => void (isAddressableId(id) && router.push(getPageHref(id))), [router, getPageHref]);
  const search = useSearchParams();
  // Each combination of filters has its own scroll position.
  const galleryKey = `${getListKey(query)} ${look.by} ${isPaged ? query.offset : ""}`;
  const startIndex = useInitialOffset(galleryKey, isPaged ? 0 : (parseOffset(search?.get("offset")) ?? query.offset));
  const [restPosition, setRestPosition] = useState({ galleryKey, index: startIndex });
  const firstIndex = restPosition.galleryKey === galleryKey ? restPosition.index : startIndex;
  const gallery = useRef<GalleryHandle>(undefined);
  /** Calls to the gallery while its code is still loading. */
  const pendingActions = useRef<{ galleryKey: string; action: (handle: GalleryHandle) => void }[]>([]);
  const onReady = useCallback(
    (handle: GalleryHandle | undefined) => {
      gallery.current = handle;
      if (!handle) return;
      const dueActions = pendingActions.current.filter((item) => item.galleryKey === galleryKey);
      pendingActions.current = [];
      for (const { action } of dueActions) queueMicrotask(() => action(gallery.current ?? handle)); // an effect must not render synchronously
    },
    [galleryKey],
  );
  const withGallery = (action: (handle: GalleryHandle) => void) =>
    gallery.current ? action(gallery.current) : void pendingActions.current.push({ galleryKey, action });
  const onRest = useCallback(
    (index: number) => {
      setRestPosition({ galleryKey, index });
      if (!isPaged) storeOffsetInUrl(index);
    },
    [isPaged, galleryKey],
  );
  const assetsSource = isPaged ? aroundPage(paged, query.offset, endless) : endless;
  const pageStart = isPaged ? query.offset : 0;
  const viewing = useViewing({
    indexOf: assetsSource.indexOf,
    getId: (index) => assetsSource.at(index)?.id,
    onRest: isPaged ? undefined : storeOffsetInUrl,
    onClosed: (index) => {
      const isOnPage = index >= pageStart && index < pageStart + source.count;
      if (!isOnPage) return listState.go({ offset: Math.floor(index / query.limit) * query.limit });
      gallery.current?.reveal(index - pageStart);
      // Focuses the last viewed picture, since the original tile may have been scrolled away.
      focusTile(assetsSource.at(index)?.id);
    },
  });
  const openViewer = (index: number) => viewing.open(pageStart + index);
  const comparison = useShown("compare");
  const compare = useCallback((ids: readonly string[]) => comparison.open(ids.join(",")), [comparison]);
  function handleDone(assetAct: AssetAction, entries: readonly Entry[]) {
    // Tags are updated in place, so that nothing moves.
    if (assetAct.kind === "delete") return source.refresh();
    const shownIds = new Set(source.rows().map(({ id }) => id));
    for (const { id, total } of entries) if (total && shownIds.has(id)) source.patch(id, (asset) => ({ ...asset, tags: [...total] }));
  }
  const shared = {
    source,
    picking,
    connectionId,
    connection,
    openId,
    startIndex: Math.min(startIndex, Math.max(0, source.count - 1)),
    onOpen: openPanel.open,
    onPage: goToPage,
    onView: openViewer,
    onRest,
    onReady,
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
              seenTags={() => [...new Set(source.rows().flatMap(({ tags }) => tags))].sort()}
            />
          </div>
          <AssetsTools
            listState={listState}
            look={look}
            onLookChange={setLook}
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
                  <Button onClick={() => listState.go(unfiltered)}>{t("filter.reset")}</Button>
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
            onFirstPage={isPaged && query.offset > 0 ? () => listState.go({ offset: 0 }) : undefined}
          />
          {!source.isEmpty && source.count === 0 && !source.unreadable ? <AssetsEmpty listState={listState} canChange={canChange} /> : null}
          {source.count > 0 && !source.isEmpty && look.look === "gallery" ? (
            <div aria-busy={isNavigating || undefined} className={isNavigating ? "opacity-60" : undefined}>
              <Gallery key={galleryKey} {...shared} size={look.size} fit={look.fit === "whole" ? "contain" : "cover"} />
            </div>
          ) : null}
          {source.count > 0 && !source.isEmpty && look.look === "table" ? (
            <AssetsTable key={galleryKey} {...shared} listState={listState} />
          ) : null}
          <AssetsSelected
            picking={picking}
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
          source={assetsSource}
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
          named={comparison.value}
          find={(id) => source.at(source.indexOf(id))}
          connectionId={connectionId}
          connection={connection}
          onClose={comparison.close}
        />
      )}
      {source.isEmpty || (source.count === 0 && !isPaged) ? null : (
        <AssetsFooter
          source={source}
          hasMore={paged.hasMore}
          by={look.by}
          listState={listState}
          firstIndex={firstIndex}
          onPagingChange={(by) => {
            const offset = by === "pages" ? Math.floor(firstIndex / query.limit) * query.limit : query.offset;
            router.push(assetsHref({ ...query, offset }, { look: { ...look, by }, connection, view }));
          }}
          onJump={(index) => withGallery(({ jumpTo }) => jumpTo(index))}
          onSelectAll={() => withGallery(({ inView }) => picking.band(inView(), picking.store.ids()))}
        />
      )}
    </>
  );
}

/** The URL's offset when the list was opened. Scrolling changes the URL, but not this value. */
function useInitialOffset(galleryKey: string, offset: number): number {
  const [start, setStart] = useState({ galleryKey, offset });
  if (start.galleryKey === galleryKey) return start.offset;
  setStart({ galleryKey, offset });
  return offset;
}

function focusTile(id: string | undefined): void {
  if (id !== undefined) document.querySelector<HTMLElement>(`[data-asset="${CSS.escape(id)}"]`)?.focus({ preventScroll: true });
}

function parseOffset(text: string | null | undefined): number | undefined {
  return text && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
