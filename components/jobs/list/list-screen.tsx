import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { type ComponentProps, type ReactNode, useEffect, useState } from "react";
import { PageControls, Paging } from "@/components/data-table/paging";
import { NewRows } from "@/components/data-table/paused-rows";
import { useIsNavigating } from "@/components/frame/list/list-state";
import { Freshness, ToolBar, UnreadableRows } from "@/components/frame/list/tool-bar";
import { PageHeader } from "@/components/frame/page-header";
import { cn } from "@/components/ui/cn";
import { loadEmptyComponent } from "@/components/ui/skeleton";
import { ClampedClock } from "@/components/ui/time";
import { type LiveValue } from "@/lib/browser/live/use-live";
import { type JobReach } from "@/lib/contract/console";
import { type JobListState, type ShownList } from "./use-job-list";

const loadFailure = () => import("@/components/frame/failure/failure-message");
// If it fails to load, the tool bar still shows the outage.
const FailureMessage = dynamic(() => loadFailure().then((module) => module.FailureMessage, loadEmptyComponent), { loading: () => null });

// Each has its own fallback; otherwise loading it would suspend the page, and the search field would lose focus.
const SearchReach = dynamic(() => import("./list-empty").then((module) => module.SearchReach, loadEmptyComponent), { loading: () => null });

export const ListEmpty = dynamic(() => import("./list-empty").then((module) => module.ListEmpty, loadEmptyComponent), {
  loading: () => null,
});

const ListLimitNote = dynamic(() => import("./list-empty").then((module) => module.ListLimitNote, loadEmptyComponent), {
  loading: () => null,
});

type ListScreenProps = {
  list: "jobs" | "history" | "queue";
  count: number | undefined;
  live: Pick<LiveValue<unknown>, "failure" | "refresh" | "atMs">;
  atMs?: number;
  reach?: JobReach;
  isCut?: boolean;
  unreadable?: number;
  search?: ReactNode;
  actions?: ReactNode;
  tools: ReactNode;
  /** The table or its replacement, then the overlays and the footer. */
  children: ReactNode;
};

/** Shared parts of the job lists, the queue and the history. */
export function ListScreen({
  list,
  count,
  live,
  atMs = live.atMs,
  reach,
  isCut,
  unreadable,
  search,
  actions,
  tools,
  children,
}: ListScreenProps) {
  const t = useTranslations(list);
  const { failure, refresh } = live;
  // Preloaded, because an unreachable console can't serve this code.
  useEffect(() => void loadFailure(), []);
  const outageMs = reach?.asOfMs;
  return (
    <>
      <PageHeader title={t("title")} count={count} badge={search}>
        <Freshness atMs={outageMs ?? atMs} isFailing={failure !== undefined || outageMs !== undefined} />
        {actions}
      </PageHeader>
      <ToolBar label={t("tools")} isLong={list !== "queue"}>
        {tools}
      </ToolBar>
      {failure ? <FailureMessage failure={failure} onRetry={() => void refresh()} className="m-4 md:mx-5" /> : null}
      {reach ? <SearchReach reach={reach} /> : null}
      {isCut ? <ListLimitNote /> : null}
      <UnreadableRows count={unreadable} />
      <ClampedClock value={failure && live.atMs}>{children}</ClampedClock>
    </>
  );
}

/** The frame of the job panel, rendered before its content. Next to the list on wide screens, over it on narrow ones. */
export function JobPanelFrame({ className, ...rest }: ComponentProps<"aside">) {
  return (
    <aside
      {...rest}
      className={cn(
        "fixed inset-0 z-40 overflow-y-auto bg-surface p-4 focus:outline-none lg:sticky lg:inset-auto lg:top-[calc(52px+var(--tool-bar))] lg:z-10 lg:h-[calc(100*var(--dvh)-52px-var(--tool-bar))] lg:w-[360px] lg:shrink-0 lg:border-l lg:border-line",
        className,
      )}
    />
  );
}

const DIM_AFTER_MS = 300;

/** The rows, dimmed while others are loading. */
export function ListRows({ state, className, children }: { state: JobListState; className?: string; children: ReactNode }) {
  const isNavigating = useIsNavigating(state);
  // Dimming a thousand rows is slow and flickers if the next rows arrive at once.
  const isSlow = useLate(isNavigating, DIM_AFTER_MS);
  return (
    <div aria-busy={isNavigating || undefined} className={cn("min-w-0", className, isSlow && "opacity-60")}>
      {children}
    </div>
  );
}

/** The range of shown rows, the total, links to other pages, and the count of new rows. */
export function ListPages({ query: { offset, limit }, rows, newCount, view, total, state }: ShownList) {
  const t = useTranslations("jobList");
  if (!view) return null;
  // Unreadable rows count towards the page, too.
  const hasMore = view.hasMore ?? rows.length + (view.unreadable ?? 0) >= limit;
  return (
    <>
      <NewRows
        count={newCount}
        text={t("newRows", { count: newCount })}
        onFirstPage={offset > 0 ? () => state.go({ offset: 0 }) : undefined}
      />
      <Paging
        offset={offset}
        limit={limit}
        count={rows.length}
        total={total}
        hasMore={hasMore}
        nextOffset={view.nextOffset}
        getHref={(to) => state.getHref({ offset: to })}
        className="mt-auto md:sticky md:bottom-0 md:z-20"
      >
        <PageControls offset={offset} limit={limit} total={total} onGo={state.go} />
      </Paging>
    </>
  );
}

/** True once `isOn` has lasted for `afterMs`, so that short delays show nothing. */
function useLate(isOn: boolean, afterMs: number): boolean {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    if (!isOn) return;
    const timer = setTimeout(() => setLate(true), afterMs);
    return () => {
      clearTimeout(timer);
      setLate(false);
    };
  }, [isOn, afterMs]);
  return isOn && isLate;
}
