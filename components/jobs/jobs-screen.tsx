"use client";

import Link from "next/link";
import { useTranslations } from "next-intl";
import { use, useMemo } from "react";
import { DataTable } from "@/components/data-table/data-table";
import { NewRows } from "@/components/data-table/new-rows";
import { Paging } from "@/components/data-table/paging";
import { useHeldRows } from "@/components/data-table/use-held-rows";
import { useConnection } from "@/components/frame/connection-context";
import { useFollowCounts } from "@/components/frame/counts-context";
import { FailureMessage } from "@/components/frame/failure-message";
import { Freshness } from "@/components/frame/freshness";
import { PageHeader } from "@/components/frame/page-header";
import { ToolBar } from "@/components/frame/tool-bar";
import { buttonStyle } from "@/components/ui/button";
import { initialOf, type Stamped, usePoll } from "@/lib/browser/use-poll";
import { type Failure } from "@/lib/contract/failure";
import { type JobsQuery } from "@/lib/contract/schemas/job";
import { type Result } from "@/lib/shared/result";
import { jobColumns } from "./job-columns";
import { type JobRow, type JobsView, toJobsView } from "./job-row";
import { jobsApiPath, jobsHref } from "./jobs-address";
import { JobsEmpty } from "./jobs-empty";
import { StatusFilter } from "./status-filter";

type JobsScreenProps = {
  query: JobsQuery;
  /** `?connection=` of the address, where it has one. */
  connection?: string;
  canRun: boolean;
  jobs: Promise<Result<Stamped<JobsView>, Failure>>;
};

const rowId = (row: JobRow) => row.id;
const noRows: JobRow[] = [];
const countOf = ({ rows }: JobsView, state: JobRow["state"]) => rows.filter((row) => row.state === state).length;
const motionOf = (view: JobsView) => (countOf(view, "in_progress") + countOf(view, "pending") > 0 ? "moving" : "still");

export function JobsScreen({ query, connection, canRun, jobs }: JobsScreenProps) {
  const t = useTranslations("jobs");
  const first = use(jobs);
  const connectionId = useConnection()?.id;
  const path = connectionId ? jobsApiPath(query, connectionId) : undefined;
  const poll = usePoll(path, { ...initialOf(first), read: toJobsView, motion: motionOf });
  const view = poll.value;
  const failure = poll.failure;
  const isFirstPage = query.offset === 0 && !query.status;
  const { rows, newCount } = useHeldRows(jobsHref(query), view?.rows ?? noRows, isFirstPage);
  useFollowCounts(view && `${view.total} ${countOf(view, "in_progress")} ${countOf(view, "pending")} ${failure?.code}`);
  const columns = useMemo(() => jobColumns(t, { connection: connectionId, linked: connection }), [t, connectionId, connection]);
  return (
    <>
      <PageHeader title={t("title")} count={view?.total}>
        <Freshness atMs={poll.atMs} everyMs={poll.everyMs} isFailing={poll.failure !== undefined} />
        {canRun ? (
          <Link href="/run" className={buttonStyle({ tone: "primary" })}>
            {t("run")}
          </Link>
        ) : null}
      </PageHeader>
      <ToolBar label={t("filter.label")}>
        <StatusFilter query={query} connection={connection} total={view?.total} />
      </ToolBar>
      {failure ? <FailureMessage failure={failure} onRetry={() => void poll.refresh()} className="mx-4 mt-4 md:mx-5" /> : null}
      <NewRows count={newCount} text={t("newRows", { count: newCount })} />
      {view && rows.length > 0 ? <DataTable caption={t("caption")} columns={columns} rows={rows} rowId={rowId} /> : null}
      {view && rows.length === 0 ? <JobsEmpty query={query} connection={connection} canRun={canRun} /> : null}
      {view ? (
        <Paging
          offset={query.offset}
          limit={query.limit}
          count={rows.length}
          total={view.total}
          hasMore={view.hasMore}
          hrefOf={(offset) => jobsHref(query, { offset, connection })}
          className="mt-auto md:sticky md:bottom-0 md:z-20"
        />
      ) : null}
    </>
  );
}
