"use client";

import { useTranslations } from "next-intl";
import { useRefreshCounts } from "@/components/frame/counts-context";
import { useDenialText } from "@/components/frame/member-context";
import { ResultLine } from "@/components/ui/result-line";
import { useLive } from "@/lib/browser/live/use-live";
import { withQuery } from "@/lib/browser/urls";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { ClearAll, useClearAll } from "../actions/clear-all";
import { type JobListProps, JobListScreen } from "./jobs-screen";
import { endedJobsPath, isFilteredList } from "./list-address";
import { useJobList } from "./use-job-list";

const getTotal = (response: JobsAnswer) => response.pagination.total;

export function HistoryScreen({ query: initialQuery, ignored, connection: connectionParam, view, canRun, isTeam, first }: JobListProps) {
  const t = useTranslations("history");
  const getDenialText = useDenialText();
  const links = { connection: connectionParam, view };
  const jobList = useJobList({ list: "history", initialQuery, first, links });
  const { connection, live } = jobList;
  // The history reports no total of its own.
  const ended = useLive(connection ? endedJobsPath(connection) : undefined, { read: getTotal });
  const refreshCounts = useRefreshCounts();
  const refresh = () => Promise.all([live.refresh(), ended.refresh(), refreshCounts()]);
  const clearAll = useClearAll(withQuery("/api/history", { connection }), endedJobsPath(connection), refresh);
  const remainingCount = clearAll.cleared?.outcome.kind === "lost" ? clearAll.cleared.outcome.left : 0;
  const isFiltered = isFilteredList(jobList.query);
  // Hidden while filtered, since it would also clear the hidden entries.
  const canClear = canRun && jobList.view && !isFiltered;
  const note = canRun ? t("stays") : getDenialText(t("viewerHint"));
  const isBusy = clearAll.isBusy || jobList.isActing;
  return (
    <JobListScreen
      {...{ displayed: jobList, initialQuery, ignored, links, canRun, isTeam }}
      total={isFiltered ? jobList.total : ended.value}
      actions={
        canClear ? (
          <ClearAll words="history.clear" count={ended.value} word={t("clear.word")} isBusy={isBusy} onClear={clearAll.clear} />
        ) : null
      }
      note={
        <>
          <span title={note} className="text-ink-3 max-md:whitespace-nowrap md:min-w-0 md:truncate">
            {note}
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
