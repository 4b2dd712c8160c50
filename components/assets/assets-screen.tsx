"use client";

import dynamic from "next/dynamic";
import { useSearchParams } from "next/navigation";
import { useTranslations } from "next-intl";
import { use, useCallback, useRef, useState } from "react";
import { WaysInMenu } from "@/components/assets/assets-tools";
import { NewRows } from "@/components/data-table/paused-rows";
import { useConnection } from "@/components/frame/connection/connection-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { UnreadableRows } from "@/components/frame/list/tool-bar";
import { Freshness } from "@/components/frame/list/tool-bar";
import { ToolBar } from "@/components/frame/list/tool-bar";
import { useListState } from "@/components/frame/list/use-list-state";
import { useOpened, useOpenedId } from "@/components/frame/list/use-opened";
import { PageHeader } from "@/components/frame/page-header";
import { useStoredAssets } from "@/components/frame/stored-assets";
import { Button } from "@/components/ui/controls/button";
import { useRouter } from "@/components/ui/link";
import { useShown } from "@/components/viewer/use-shown";
import { useViewing } from "@/components/viewer/use-viewing";
import { type Stamped } from "@/lib/browser/poll/use-poll";
import { type Failure, lacksOperation } from "@/lib/contract/failure";
import { isAddressableId } from "@/lib/contract/params";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type Result } from "@/lib/shared/result";
import { assetHref } from "./asset-urls";
import { type AssetPage } from "./assets-address";
import { assetsHref, isFiltered, questionOf, unfiltered } from "./assets-address";
import { AssetsEmpty } from "./assets-footer";
import { AssetsFooter } from "./assets-footer";
import { AssetsSelected } from "./assets-footer";
import { AssetsTableSkeleton } from "./assets-skeleton";
import { AssetsTools } from "./assets-tools";
import { AssetsFilters } from "./assets-tools";
import { useLook } from "./assets-tools";
import { type AssetAct, type Entry } from "./bulk/use-asset-bulk";
import { Gallery, type WallHandle } from "./wall/gallery";
import { aroundPage } from "./wall/use-endless";
import { noteOffset } from "./wall/use-endless";
import { useEndless } from "./wall/use-endless";
import { usePaged } from "./wall/use-endless";
import { usePicking } from "./wall/use-picking";

const AssetPanel = dynamic(() => import("./asset-panel").then((module) => module.AssetPanel), { ssr: false });
const AssetsCompare = dynamic(() => import("./assets-viewer").then((module) => module.AssetsCompare), { ssr: false });
const AssetsViewer = dynamic(() => import("./assets-viewer").then((module) => module.AssetsViewer), { ssr: false });
/** Without `loading` the whole page would wait for it. */
const WallTable = dynamic(() => import("./wall/wall-table").then((module) => module.WallTable), { loading: () => <AssetsTableSkeleton /> });

type AssetsScreenProps = {
  /** In an endless list, the query of the chunk that it opens at. */
  query: AssetsQuery;
  /** `?connection=` of the address, if present. */
  connection?: string;
  /** There is a default view, so the bare list needs `view=all` in its address. */
  view?: "all";
  canChange: boolean;
  assets: Promise<Result<Stamped<AssetPage>, Failure>>;
};

export function AssetsScreen({ query, connection, view, canChange, assets: reading }: AssetsScreenProps) {
  const t = useTranslations("assets");
  const router = useRouter();
  const first = use(reading);
  const connectionId = useConnection()?.id;
  const [look, setLook] = useLook();
  const isPaged = look.by === "pages";
  const place = useListState(query, (next) => assetsHref(next, { look, connection, view }));
  const endless = useEndless({ query, connectionId, first, isOn: !isPaged });
  const paged = usePaged({ query, connectionId, first, isOn: isPaged });
  const source = isPaged ? paged : endless;
  const { failure } = source;
  // A service without assets is not unreachable: there is nothing to filter, to add or to wait for.
  const isAbsent = failure !== undefined && lacksOperation(failure);
  const picking = usePicking(source, questionOf(query) + (isPaged ? query.offset : ""));
  useStoredAssets(source.refresh);

  const pageOf = useCallback((id: string) => assetHref(id, connection), [connection]);
  const opened = useOpened("asset", pageOf);
  const openId = useOpenedId(opened);
  const goToPage = useCallback((id: string) => void (isAddressableId(id) && router.push(pageOf(id))), [router, pageOf]);
  const search = useSearchParams();
  // Other filters make another list, which has its own scroll position.
  const wallKey = `${questionOf(query)} ${look.by} ${isPaged ? query.offset : ""}`;
  const startIndex = useStart(wallKey, isPaged ? 0 : (placeOf(search?.get("offset")) ?? query.offset));
  const [rest, setRest] = useState({ wallKey, index: startIndex });
  const firstIndex = rest.wallKey === wallKey ? rest.index : startIndex;
  const wall = useRef<WallHandle>(undefined);
  /** What was asked of the wall before it was there: its code may still be loading. */
  const due = useRef<{ wallKey: string; act: (handle: WallHandle) => void }[]>([]);
  const onReady = useCallback(
    (handle: WallHandle | undefined) => {
      wall.current = handle;
      if (!handle) return;
      const acts = due.current.filter((one) => one.wallKey === wallKey);
      due.current = [];
      for (const { act } of acts) queueMicrotask(() => act(wall.current ?? handle)); // an effect must not draw at once
    },
    [wallKey],
  );
  const onWall = (act: (handle: WallHandle) => void) => (wall.current ? act(wall.current) : void due.current.push({ wallKey, act }));
  const onRest = useCallback(
    (index: number) => {
      setRest({ wallKey, index });
      if (!isPaged) noteOffset(index);
    },
    [isPaged, wallKey],
  );
  const whole = isPaged ? aroundPage(paged, query.offset, endless) : endless;
  const pageStart = isPaged ? query.offset : 0;
  const viewing = useViewing({
    indexOf: whole.indexOf,
    idAt: (index) => whole.at(index)?.id,
    onRest: isPaged ? undefined : noteOffset,
    onClosed: (index) => {
      const isOnPage = index >= pageStart && index < pageStart + source.count;
      if (!isOnPage) return place.go({ offset: Math.floor(index / query.limit) * query.limit });
      wall.current?.reveal(index - pageStart);
      // The focus goes to the picture that was seen last; the tile that had it before may have been scrolled away.
      focusOn(whole.at(index)?.id);
    },
  });
  const seeInFull = (index: number) => viewing.open(pageStart + index);
  const compared = useShown("compare");
  const compare = useCallback((ids: readonly string[]) => compared.open(ids.join(",")), [compared]);
  function done(act: AssetAct, entries: readonly Entry[]) {
    // Deleted assets leave the list; tags are updated in place, so that nothing moves.
    if (act.kind === "delete") return source.refresh();
    const shown = new Set(source.rows().map(({ id }) => id));
    for (const { id, total } of entries) if (total && shown.has(id)) source.patch(id, (asset) => ({ ...asset, tags: [...total] }));
  }
  const shared = {
    source,
    picking,
    connectionId,
    connection,
    openId,
    startIndex: Math.min(startIndex, Math.max(0, source.count - 1)),
    onOpen: opened.open,
    onPage: goToPage,
    onView: seeInFull,
    onRest,
    onReady,
  };
  return (
    <>
      <PageHeader title={t("title")} count={source.total}>
        {isAbsent ? null : <Freshness atMs={source.atMs} everyMs={source.everyMs} isFailing={failure !== undefined} />}
        {canChange && !isAbsent ? <WaysInMenu /> : null}
      </PageHeader>
      {isAbsent ? null : (
        <ToolBar label={t("filter.label")}>
          {/* The view's tools stay in place: the filters scroll beside them, and fade out where there are more. */}
          <div className="flex min-w-0 flex-1 items-center gap-2 max-md:contents md:-my-1 md:-ml-1 md:overflow-x-auto md:mask-r-from-[calc(100%-16px)] md:py-1 md:pr-4 md:pl-1">
            <AssetsFilters
              place={place}
              connectionId={connectionId}
              seenTags={() => [...new Set(source.rows().flatMap(({ tags }) => tags))].sort()}
            />
          </div>
          <AssetsTools
            place={place}
            look={look}
            onLook={setLook}
            onView={source.count > 0 && !source.isEmpty ? () => seeInFull(firstIndex) : undefined}
            linked={connection}
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
                  <Button onClick={() => place.go(unfiltered)}>{t("filter.reset")}</Button>
                ) : null
              }
              // Stays visible above any part of the list.
              className="sticky top-[57px] z-10 mx-4 mt-4 md:top-[111px] md:mx-5"
            />
          ) : null}
          <UnreadableRows count={source.unreadable} />
          <NewRows
            count={source.newCount}
            text={t("grid.waiting", { count: source.newCount })}
            onFirstPage={isPaged && query.offset > 0 ? () => place.go({ offset: 0 }) : undefined}
          />
          {!source.isEmpty && source.count === 0 && !source.unreadable ? <AssetsEmpty place={place} canChange={canChange} /> : null}
          {source.count > 0 && !source.isEmpty && look.look === "gallery" ? (
            <div aria-busy={place.isMoving || undefined} className={place.isMoving ? "opacity-60" : undefined}>
              <Gallery key={wallKey} {...shared} size={look.size} fit={look.fit === "whole" ? "contain" : "cover"} />
            </div>
          ) : null}
          {source.count > 0 && !source.isEmpty && look.look === "table" ? <WallTable key={wallKey} {...shared} place={place} /> : null}
          <AssetsSelected
            picking={picking}
            query={query}
            total={source.total}
            connectionId={connectionId}
            connection={connection}
            canChange={canChange}
            onDone={done}
            onCompare={compare}
          />
        </div>
        {openId === undefined ? null : (
          <AssetPanel
            id={openId}
            listed={source.at(source.indexOf(openId))}
            connectionId={connectionId}
            connection={connection}
            canChange={canChange}
            onClose={() => {
              opened.close();
              focusOn(openId);
            }}
            onPatch={source.patch}
            onDeleted={(id) => {
              if (opened.has(id)) opened.close();
              source.refresh();
            }}
          />
        )}
      </div>
      {viewing.isOpen ? (
        <AssetsViewer
          source={whole}
          viewing={viewing}
          onCompare={compare}
          isCovered={compared.value !== undefined}
          connectionId={connectionId}
          connection={connection}
        />
      ) : null}
      {compared.value === undefined ? null : (
        <AssetsCompare
          key={compared.value}
          named={compared.value}
          find={(id) => source.at(source.indexOf(id))}
          connectionId={connectionId}
          connection={connection}
          onClose={compared.close}
        />
      )}
      {source.isEmpty || (source.count === 0 && !isPaged) ? null : (
        <AssetsFooter
          source={source}
          hasMore={paged.hasMore}
          by={look.by}
          place={place}
          firstIndex={firstIndex}
          onBy={(by) => {
            const offset = by === "pages" ? Math.floor(firstIndex / query.limit) * query.limit : query.offset;
            router.push(assetsHref({ ...query, offset }, { look: { ...look, by }, connection, view }));
          }}
          onJump={(index) => onWall(({ jumpTo }) => jumpTo(index))}
          onSelectAll={() => onWall(({ inView }) => picking.band(inView(), picking.store.ids()))}
        />
      )}
    </>
  );
}

/** The position that the address named when this list appeared; scrolling changes the address, but not where the list opened. */
function useStart(wallKey: string, offset: number): number {
  const [start, setStart] = useState({ wallKey, offset });
  if (start.wallKey === wallKey) return start.offset;
  setStart({ wallKey, offset });
  return offset;
}

function focusOn(id: string | undefined): void {
  if (id !== undefined) document.querySelector<HTMLElement>(`[data-asset="${CSS.escape(id)}"]`)?.focus({ preventScroll: true });
}

function placeOf(text: string | null | undefined): number | undefined {
  return text && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
