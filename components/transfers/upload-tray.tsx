import { ChevronDown, ChevronUp, X } from "lucide-react";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { Button, IconButton } from "@/components/ui/controls/button";
import { Menu } from "@/components/ui/controls/menu";
import { ProgressBar } from "@/components/ui/skeleton";
import { type UploadQueue } from "@/lib/browser/uploads/upload-queue";
import { DEFAULT_UPLOAD_PREFERENCES, uploadPreferences } from "./uploads/asset-fields-form";
import { isAlarm, type UploadItem } from "./uploads/upload-item";
import { DownloadList, type Downloads, UploadList } from "./uploads/upload-list";
import { countUploads, filterItems, type Tally, type UploadFilter } from "./uploads/upload-state";
import { tabUploads } from "./uploads/upload-store";

const filters = ["all", "unfinished", "problems", "noPictures", "stored"] as const satisfies readonly UploadFilter[];
export type TrayView = "uploads" | "downloads";

type UploadTrayProps = {
  queue: UploadQueue<UploadItem>;
  downloads: Downloads;
  connection?: string;
  canAdd: boolean;
  view: TrayView;
  isFolded: boolean;
  onView: (view: TrayView) => void;
  onFold: (isFolded: boolean) => void;
  onDetails: (key: number) => void;
  onDescribeAll: () => void;
  onClose: () => void;
};

/** All transfers, shown over every page; one line when collapsed. */
export function UploadTray({ queue, downloads, connection, canAdd, view, isFolded, ...on }: UploadTrayProps) {
  const t = useTranslations("uploads.tray");
  const [filter, setFilter] = useState<UploadFilter>("all");
  const tally = countUploads(queue.items);
  const alarmCount = queue.items.filter(isAlarm).length;
  const taskCount = downloads.list?.tasks.length ?? 0;
  const underWay = downloads.list?.underWay ?? 0;
  const hasBoth = tally.all > 0 && taskCount > 0;
  const tray = tally.all === 0 && taskCount > 0 ? "downloads" : taskCount === 0 ? "uploads" : view;
  const isIdle = tally.unfinished === 0;
  // Failures and alarms are shown until the user handles them.
  const canClose = isIdle && tally.problems === 0;
  return (
    <section
      aria-label={t("label")}
      data-lower-edge=""
      className="fixed inset-x-2 bottom-16 z-30 flex flex-col rounded-lg border border-line-strong bg-surface shadow-xl md:inset-x-auto md:right-4 md:bottom-12 md:w-[460px]"
    >
      <div className="flex min-h-11 items-center gap-2 px-3 py-1.5">
        <div className="min-w-0 flex-1">
          <p role="status" className="truncate font-semibold">
            <Summary shown={tray} tally={tally} isPaused={queue.isPaused} underWay={underWay} />
          </p>
          {tray === "uploads" && tally.all > 0 && !isIdle ? (
            <ProgressBar value={tally.share} label={t("progress")} className="mt-1 block w-full" />
          ) : null}
        </div>
        {tray === "uploads" && tally.all > 0 && !isFolded ? (
          <QueueActions queue={queue} tally={tally} onDescribeAll={on.onDescribeAll} />
        ) : null}
        <IconButton
          tone="quiet"
          icon={isFolded ? ChevronUp : ChevronDown}
          label={t(isFolded ? "unfold" : "fold")}
          onClick={() => on.onFold(!isFolded)}
        />
        {canClose ? <IconButton tone="quiet" icon={X} label={t("close")} onClick={on.onClose} /> : null}
      </div>
      {alarmCount > 0 ? (
        <p role="alert" className="border-t border-line bg-bad-soft px-3 py-1.5 font-medium text-bad">
          {t("alarm", { count: alarmCount })}
        </p>
      ) : null}
      {isFolded ? null : (
        <div className="border-t border-line">
          {hasBoth ? (
            <Choices
              label={t("label")}
              choices={[
                { key: "uploads", text: `${t("uploads")} ${tally.all}` },
                { key: "downloads", text: `${t("downloads")} ${taskCount}` },
              ]}
              chosen={tray}
              onChoose={on.onView}
            />
          ) : null}
          {tray === "uploads" && tally.all > 0 ? (
            <>
              <FilterChoice tally={tally} filter={filter} onFilter={setFilter} />
              <UploadList items={filterItems(queue.items, filter)} onDetails={on.onDetails} />
            </>
          ) : null}
          {tray === "downloads" ? <DownloadList downloads={downloads} connection={connection} canAdd={canAdd} /> : null}
          {tally.all === 0 && taskCount === 0 ? (
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

function Summary({ shown: view, tally, isPaused, underWay }: { shown: TrayView; tally: Tally; isPaused: boolean; underWay: number }) {
  const t = useTranslations("uploads.tray");
  if (view === "downloads") return `${t("downloads")}${underWay > 0 ? ` · ${t("underWay", { count: underWay })}` : ""}`;
  if (tally.all === 0) return t("label");
  const isAllDeduplicated = tally.deduplicated === tally.all;
  const parts = [
    isAllDeduplicated ? t("allDeduplicated", { count: tally.deduplicated }) : t("summary", { stored: tally.stored, all: tally.all }),
  ];
  if (tally.deduplicated > 0 && !isAllDeduplicated) parts.push(t("deduplicated", { count: tally.deduplicated }));
  if (tally.underWay > 0) parts.push(t("underWay", { count: tally.underWay }));
  else if (isPaused) parts.push(t("allPaused"));
  if (tally.problems > 0) parts.push(t("problems", { count: tally.problems }));
  if (tally.noPictures > 0) parts.push(t("unreadable", { count: tally.noPictures }));
  return parts.join(" · ");
}

function QueueActions({ queue, tally, onDescribeAll }: { queue: UploadQueue<UploadItem>; tally: Tally; onDescribeAll: () => void }) {
  const t = useTranslations("uploads.tray");
  const canPause = !queue.isPaused && tally.unfinished > 0;
  const canResume = queue.isPaused || tally.paused > 0;
  const hasFailed = queue.items.some(({ status }) => status.kind === "failed");
  const actionButton = (
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
        ...(canPause ? [actionButton("pauseAll", tabUploads.pauseAll)] : []),
        ...(canResume ? [actionButton("resumeAll", tabUploads.resumeAll)] : []),
        ...(hasFailed ? [actionButton("retryAll", tabUploads.retryAll), actionButton("dropFailed", tabUploads.dropFailed)] : []),
        actionButton("editAll", onDescribeAll),
        ...(tally.stored > 0 ? [actionButton("clear", tabUploads.clear)] : []),
        ...(tally.unfinished > 0 ? [actionButton("cancelAll", tabUploads.cancelAll)] : []),
        ...(uploadPreferences.get().ask ? [] : [actionButton("ask", () => uploadPreferences.set(DEFAULT_UPLOAD_PREFERENCES))]),
      ]}
    />
  );
}

function FilterChoice({ tally, filter, onFilter }: { tally: Tally; filter: UploadFilter; onFilter: (filter: UploadFilter) => void }) {
  const t = useTranslations("uploads.filter");
  // A few files need no filter.
  if (tally.all < 8) return null;
  const offered = filters.filter((key) => key !== "noPictures" || key === filter || tally.noPictures > 0);
  const choices = offered.map((key) => ({ key, text: `${t(key)} ${tally[key]}` }));
  return <Choices label={t("label")} choices={choices} chosen={filter} onChoose={onFilter} />;
}

type ChoicesProps<K extends string> = {
  label: string;
  choices: readonly { key: K; text: string }[];
  chosen: K;
  onChoose: (key: K) => void;
};

function Choices<K extends string>({ label, choices, chosen, onChoose }: ChoicesProps<K>) {
  return (
    <div role="group" aria-label={label} className="flex gap-1 overflow-x-auto border-b border-line px-2 py-1.5">
      {choices.map(({ key, text }) => (
        <Button
          key={key}
          tone={key === chosen ? "chosen" : "quiet"}
          size="small"
          aria-pressed={key === chosen}
          onClick={() => onChoose(key)}
        >
          {text}
        </Button>
      ))}
    </div>
  );
}
