import { ChevronDown, ChevronUp, X } from "lucide-react";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { Button, IconButton } from "@/components/ui/controls/button";
import { Menu } from "@/components/ui/controls/menu";
import { ProgressBar } from "@/components/ui/skeleton";
import { type UploadQueueState } from "@/lib/browser/uploads/upload-queue";
import { DEFAULT_UPLOAD_PREFERENCES, uploadPreferences } from "./uploads/asset-fields-form";
import { hasContentMismatch, type UploadItem } from "./uploads/upload-item";
import { DownloadList, type Downloads, UploadList } from "./uploads/upload-list";
import { countUploads, filterItems, type UploadCounts, type UploadFilter } from "./uploads/upload-state";
import { tabUploads } from "./uploads/upload-store";

const uploadFilters = ["all", "unfinished", "problems", "noPictures", "stored"] as const satisfies readonly UploadFilter[];
export type TrayView = "uploads" | "downloads";

type UploadTrayProps = {
  queue: UploadQueueState<UploadItem>;
  downloads: Downloads;
  connection?: string;
  canAdd: boolean;
  view: TrayView;
  isCollapsed: boolean;
  onView: (view: TrayView) => void;
  onCollapse: (isCollapsed: boolean) => void;
  onDetails: (key: number) => void;
  onEditAll: () => void;
  onClose: () => void;
};

/** Shows all transfers above every page. Collapses to one line. */
export function UploadTray({ queue, downloads, connection, canAdd, view, isCollapsed, ...handlers }: UploadTrayProps) {
  const t = useTranslations("uploads.tray");
  const [filter, setFilter] = useState<UploadFilter>("all");
  const counts = countUploads(queue.items);
  const mismatchCount = queue.items.filter(hasContentMismatch).length;
  const taskCount = downloads.list?.tasks.length ?? 0;
  const runningCount = downloads.list?.underWay ?? 0;
  const hasBothKinds = counts.all > 0 && taskCount > 0;
  const shownView = counts.all === 0 && taskCount > 0 ? "downloads" : taskCount === 0 ? "uploads" : view;
  const isIdle = counts.unfinished === 0;
  // Failures and content mismatches remain until the user handles them.
  const canClose = isIdle && counts.problems === 0;
  return (
    <section
      aria-label={t("label")}
      data-lower-edge=""
      className="fixed inset-x-2 bottom-[calc(104px+env(safe-area-inset-bottom))] z-30 flex flex-col rounded-lg border border-line-strong bg-surface shadow-xl md:inset-x-auto md:right-4 md:bottom-12 md:w-[460px]"
    >
      <div className="flex min-h-11 items-center gap-2 px-3 py-1.5">
        <div className="min-w-0 flex-1">
          <p role="status" className="truncate font-semibold">
            <Summary view={shownView} counts={counts} isPaused={queue.isPaused} runningCount={runningCount} />
          </p>
          {shownView === "uploads" && counts.all > 0 && !isIdle ? (
            <ProgressBar value={counts.share} label={t("progress")} className="mt-1 block w-full" />
          ) : null}
        </div>
        {shownView === "uploads" && counts.all > 0 && !isCollapsed ? (
          <QueueActions queue={queue} counts={counts} onEditAll={handlers.onEditAll} />
        ) : null}
        <IconButton
          tone="quiet"
          icon={isCollapsed ? ChevronUp : ChevronDown}
          label={t(isCollapsed ? "unfold" : "fold")}
          onClick={() => handlers.onCollapse(!isCollapsed)}
        />
        {canClose ? <IconButton tone="quiet" icon={X} label={t("close")} onClick={handlers.onClose} /> : null}
      </div>
      {mismatchCount > 0 ? (
        <p role="alert" className="border-t border-line bg-bad-soft px-3 py-1.5 font-medium text-bad">
          {t("alarm", { count: mismatchCount })}
        </p>
      ) : null}
      {isCollapsed ? null : (
        <div className="border-t border-line">
          {hasBothKinds ? (
            <Choices
              label={t("label")}
              choices={[
                { key: "uploads", text: `${t("uploads")} ${counts.all}` },
                { key: "downloads", text: `${t("downloads")} ${taskCount}` },
              ]}
              selectedKey={shownView}
              onChoose={handlers.onView}
            />
          ) : null}
          {shownView === "uploads" && counts.all > 0 ? (
            <>
              <FilterChoice counts={counts} filter={filter} onFilter={setFilter} />
              <UploadList items={filterItems(queue.items, filter)} onDetails={handlers.onDetails} />
            </>
          ) : null}
          {shownView === "downloads" ? <DownloadList downloads={downloads} connection={connection} canAdd={canAdd} /> : null}
          {counts.all === 0 && taskCount === 0 ? (
            <div className="px-3 py-5 text-center">
              <p className="font-semibold">{t("empty")}</p>
              <p className="text-ink-2">{t("emptyText")}</p>
            </div>
          ) : null}
        </div>
      )}
    </section>
  );
}

type SummaryProps = { view: TrayView; counts: UploadCounts; isPaused: boolean; runningCount: number };

function Summary({ view, counts, isPaused, runningCount }: SummaryProps) {
  const t = useTranslations("uploads.tray");
  if (view === "downloads") return `${t("downloads")}${runningCount > 0 ? ` · ${t("underWay", { count: runningCount })}` : ""}`;
  if (counts.all === 0) return t("label");
  const isAllDeduplicated = counts.deduplicated === counts.all;
  const parts = [
    isAllDeduplicated ? t("allDeduplicated", { count: counts.deduplicated }) : t("summary", { stored: counts.stored, all: counts.all }),
  ];
  if (counts.deduplicated > 0 && !isAllDeduplicated) parts.push(t("deduplicated", { count: counts.deduplicated }));
  if (counts.underWay > 0) parts.push(t("underWay", { count: counts.underWay }));
  else if (isPaused) parts.push(t("allPaused"));
  if (counts.problems > 0) parts.push(t("problems", { count: counts.problems }));
  if (counts.noPictures > 0) parts.push(t("unreadable", { count: counts.noPictures }));
  return parts.join(" · ");
}

function QueueActions({ queue, counts, onEditAll }: { queue: UploadQueueState<UploadItem>; counts: UploadCounts; onEditAll: () => void }) {
  const t = useTranslations("uploads.tray");
  const canPause = !queue.isPaused && counts.unfinished > 0;
  const canResume = queue.isPaused || counts.paused > 0;
  const hasFailed = queue.items.some(({ status }) => status.kind === "failed");
  const createMenuItem = (
    key: "pauseAll" | "resumeAll" | "retryAll" | "dropFailed" | "cancelAll" | "clear" | "editAll" | "ask",
    run: () => void,
  ) => ({
    key,
    label: t(key),
    onSelect: run,
  });
  return (
    <Menu
      size="small"
      label={t("actions")}
      items={[
        ...(canPause ? [createMenuItem("pauseAll", tabUploads.pauseAll)] : []),
        ...(canResume ? [createMenuItem("resumeAll", tabUploads.resumeAll)] : []),
        ...(hasFailed ? [createMenuItem("retryAll", tabUploads.retryAll), createMenuItem("dropFailed", tabUploads.clearFailed)] : []),
        createMenuItem("editAll", onEditAll),
        ...(counts.stored > 0 ? [createMenuItem("clear", tabUploads.clearStored)] : []),
        ...(counts.unfinished > 0 ? [createMenuItem("cancelAll", tabUploads.cancelAll)] : []),
        ...(uploadPreferences.get().ask ? [] : [createMenuItem("ask", () => uploadPreferences.set(DEFAULT_UPLOAD_PREFERENCES))]),
      ]}
    />
  );
}

function FilterChoice({
  counts,
  filter,
  onFilter,
}: {
  counts: UploadCounts;
  filter: UploadFilter;
  onFilter: (filter: UploadFilter) => void;
}) {
  const t = useTranslations("uploads.filter");
  // Short lists need no filter.
  if (counts.all < 8) return null;
  const shownFilters = uploadFilters.filter((key) => key !== "noPictures" || key === filter || counts.noPictures > 0);
  const choices = shownFilters.map((key) => ({ key, text: `${t(key)} ${counts[key]}` }));
  return <Choices label={t("label")} choices={choices} selectedKey={filter} onChoose={onFilter} />;
}

type ChoicesProps<K extends string> = {
  label: string;
  choices: readonly { key: K; text: string }[];
  selectedKey: K;
  onChoose: (key: K) => void;
};

function Choices<K extends string>({ label, choices, selectedKey, onChoose }: ChoicesProps<K>) {
  return (
    <div role="group" aria-label={label} className="flex gap-1 overflow-x-auto border-b border-line px-2 py-1.5">
      {choices.map(({ key, text }) => (
        <Button
          key={key}
          tone={key === selectedKey ? "chosen" : "quiet"}
          size="small"
          aria-pressed={key === selectedKey}
          onClick={() => onChoose(key)}
        >
          {text}
        </Button>
      ))}
    </div>
  );
}
