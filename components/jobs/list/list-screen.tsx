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
import { type JobListData, type JobListState } from "./use-job-list";

const loadFailure = () => import("@/components/frame/failure/failure-message");
// If this code fails to load, the toolbar still shows the outage.
const FailureMessage = dynamic(() => loadFailure().then((module) => module.FailureMessage, loadEmptyComponent), { loading: () => null });

// Each component has its own fallback. Otherwise, loading it would suspend the page and the search field would lose focus.
const SearchCoverageNotice = dynamic(() => import("./list-empty").then((module) => module.SearchCoverageNotice, loadEmptyComponent), {
  loading: () => null,
});

export const ListEmpty = dynamic(() => import("./list-empty").then((module) => module.ListEmpty, loadEmptyComponent), {
  loading: () => null,
});

const ListLimitNotice = dynamic(() => import("./list-empty").then((module) => module.ListLimitNotice, loadEmptyComponent), {
  loading: () => null,
});

type ListScreenProps = {
  list: "jobs" | "history" | "queue";
  count: number | undefined;
  live: Pick<LiveValue<unknown>, "failure" | "refresh" | "atMs">;
  atMs?: number;
  reach?: JobReach;
  hasOlderJobs?: boolean;
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
  hasOlderJobs,
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
      {reach ? <SearchCoverageNotice reach={reach} /> : null}
      {hasOlderJobs ? <ListLimitNotice /> : null}
      <UnreadableRows count={unreadable} />
      <ClampedClock value={failure && live.atMs}>{children}</ClampedClock>
    </>
  );
}

/** The frame of the job panel, rendered before its content. It is next to the list on wide screens and over it on narrow ones. */
export function JobPanelFrame({ className, ...props }: ComponentProps<"aside">) {
  return (
    <aside
      {...props}
      className={cn(
        "fixed inset-0 z-40 overflow-y-auto bg-surface p-4 focus:outline-none lg:sticky lg:inset-auto lg:top-[calc(52px+var(--tool-bar))] lg:z-10 lg:h-[calc(100*var(--dvh)-52px-var(--tool-bar))] lg:w-[360px] lg:shrink-0 lg:border-l lg:border-line",
        className,
      )}
    />
  );
}

const DIM_DELAY_MS = 300;

/** The rows, dimmed while new ones are loading. */
export function ListRows({ state, className, children }: { state: JobListState; className?: string; children: ReactNode }) {
  const isNavigating = useIsNavigating(state);
  // Dimming a thousand rows is slow and flickers if the next rows arrive at once.
  const shouldDim = useDelayedFlag(isNavigating, DIM_DELAY_MS);
  return (
    <div aria-busy={isNavigating || undefined} className={cn("min-w-0", className, shouldDim && "opacity-60")}>
      {children}
    </div>
  );
}

/** The range of shown rows, the total, links to other pages, and the count of new rows. */
export function ListPages({ query: { offset, limit }, rows, newCount, view, total, state }: JobListData) {
  const t = useTranslations("jobList");
  if (!view) return null;
  // Unreadable rows count towards the page, too.
  const hasMore = view.hasMore ?? rows.length + (view.unreadable ?? 0) >= limit;
  return (
    <>
      <NewRows
        count={newCount}
        text={t("newRows", { count: newCount })}
        onFirstPage={offset > 0 ? () => state.navigate({ offset: 0 }) : undefined}
      />
      <Paging
        offset={offset}
        limit={limit}
        count={rows.length}
        total={total}
        hasMore={hasMore}
        nextOffset={view.nextOffset}
        getHref={(nextOffset) => state.getHref({ offset: nextOffset })}
        className="mt-auto md:sticky md:bottom-0 md:z-20"
      >
        <PageControls offset={offset} limit={limit} total={total} onNavigate={state.navigate} />
      </Paging>
    </>
  );
}

/** Returns true once `isActive` has been true for `delayMs`, so that short delays show nothing. */
function useDelayedFlag(isActive: boolean, delayMs: number): boolean {
  const [hasElapsed, setElapsed] = useState(false);
  useEffect(() => {
    if (!isActive) return;
    const timer = setTimeout(() => setElapsed(true), delayMs);
    return () => {
      clearTimeout(timer);
      setElapsed(false);
    };
  }, [isActive, delayMs]);
  return isActive && hasElapsed;
}
