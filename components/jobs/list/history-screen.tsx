"use client";

import { useTranslations } from "next-intl";
import { useRefreshCounts } from "@/components/frame/counts-context";
import { useDenialText } from "@/components/frame/member-context";
import { ResultLine } from "@/components/ui/result-line";
import { useLive } from "@/lib/browser/live/use-live";
import { withQuery } from "@/lib/browser/urls";
import { type JobsResponse } from "@/lib/contract/schemas/job";
import { ClearAll, useClearAll } from "../actions/clear-all";
import { type JobListProps, JobListScreen } from "./jobs-screen";
import { getEndedJobsPath, isFilteredList } from "./list-urls";
import { useJobList } from "./use-job-list";

const getTotal = (response: JobsResponse) => response.pagination.total;

export function HistoryScreen({
  query: initialQuery,
  ignored,
  connection: connectionParam,
  view,
  canRun,
  isTeam,
  initialResponse,
}: JobListProps) {
  const t = useTranslations("history");
  const getDenialText = useDenialText();
  const links = { connection: connectionParam, view };
  const jobList = useJobList({ list: "history", initialQuery, initialResponse, links });
  const { connection, live } = jobList;
  // The history endpoint reports no total.
  const endedTotal = useLive(connection ? getEndedJobsPath(connection) : undefined, { read: getTotal });
  const refreshCounts = useRefreshCounts();
  const refresh = () => Promise.all([live.refresh(), endedTotal.refresh(), refreshCounts()]);
  const clearAll = useClearAll(withQuery("/api/history", { connection }), getEndedJobsPath(connection), refresh);
  const remainingCount = clearAll.cleared?.outcome.kind === "unconfirmed" ? clearAll.cleared.outcome.remainingCount : 0;
  const isFiltered = isFilteredList(jobList.query);
  // Hidden while filtered, since it would also clear the hidden entries.
  const canClear = canRun && jobList.view && !isFiltered;
  const hint = canRun ? t("stays") : getDenialText(t("viewerHint"));
  const isBusy = clearAll.isBusy || jobList.isActing;
  return (
    <JobListScreen
      {...{ displayed: jobList, initialQuery, ignored, links, canRun, isTeam }}
      total={isFiltered ? jobList.total : endedTotal.value}
      actions={
        canClear ? (
          <ClearAll
            messageNamespace="history.clear"
            count={endedTotal.value}
            confirmationWord={t("clear.word")}
            isBusy={isBusy}
            onClear={clearAll.clear}
          />
        ) : null
      }
      hint={
        <>
          <span title={hint} className="text-ink-3 max-md:whitespace-nowrap md:min-w-0 md:truncate">
            {hint}
          </span>
          {clearAll.cleared ? (
            <ResultLine
              isResult
              tone={remainingCount === 0 ? "ok" : "off"}
              text={remainingCount === 0 ? t("cleared") : t("clearLost", { count: remainingCount })}
              onDismiss={clearAll.dismiss}
            />
          ) : null}
        </>
      }
      onStarted={clearAll.dismiss}
      onDone={() => void refresh()}
    />
  );
}
