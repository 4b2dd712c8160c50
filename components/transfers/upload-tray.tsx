import { ChevronDown, ChevronUp, X } from "lucide-react";
import { useTranslations } from "next-intl";
import { type ReactNode, useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { Menu } from "@/components/ui/controls/menu";
import { ProgressBar } from "@/components/ui/skeleton";
import { DownloadList, type Downloads } from "./downloads/download-list";
import { uploadHabits, usualHabits } from "./uploads/about-form";
import { tabUploads } from "./uploads/tab-uploads";
import { isAlarm, type KeptAlarm } from "./uploads/upload-item";
import { AlarmList, UploadList } from "./uploads/upload-list";
import { filterItems, type Tally, tallyOf, type UploadFilter, type UploadQueue } from "./uploads/upload-state";

const filters = ["all", "unfinished", "problems", "noPictures", "stored"] as const satisfies readonly UploadFilter[];
export type TrayView = "uploads" | "downloads";

type UploadTrayProps = {
  queue: UploadQueue;
  /** Alarms of earlier visits. */
  alarms: readonly KeptAlarm[];
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

/** All transfers, shown over every page; collapsed it is one line. */
export function UploadTray({ queue, alarms: earlier, downloads, connection, canAdd, view, isFolded, ...on }: UploadTrayProps) {
  const t = useTranslations("uploads.tray");
  const [filter, setFilter] = useState<UploadFilter>("all");
  const tally = tallyOf(queue.items);
  const alarms = queue.items.filter(isAlarm).length + earlier.length;
  const tasks = downloads.list?.tasks.length ?? 0;
  const underWay = downloads.list?.underWay ?? 0;
  const hasBoth = tally.all > 0 && tasks > 0;
  const shown = tally.all === 0 && tasks > 0 ? "downloads" : tasks === 0 ? "uploads" : view;
  const isAtRest = tally.unfinished === 0;
  // Failures and alarms stay visible until a person deals with them.
  const canClose = isAtRest && tally.problems === 0 && earlier.length === 0;
  return (
    <section
      aria-label={t("label")}
      data-lower-edge=""
      className="fixed inset-x-2 bottom-16 z-30 flex flex-col rounded-lg border border-line-strong bg-surface shadow-xl md:inset-x-auto md:right-4 md:bottom-12 md:w-[460px]"
    >
      <div className="flex min-h-11 items-center gap-2 px-3 py-1.5">
        <div className="min-w-0 flex-1">
          <p role="status" className="truncate font-semibold">
            <Summary shown={shown} tally={tally} isPaused={queue.isPaused} underWay={underWay} />
          </p>
          {shown === "uploads" && tally.all > 0 && !isAtRest ? (
            <ProgressBar value={tally.share} label={t("progress")} className="mt-1 block w-full" />
          ) : null}
        </div>
        {shown === "uploads" && tally.all > 0 && !isFolded ? (
          <AllActs queue={queue} tally={tally} onDescribeAll={on.onDescribeAll} />
        ) : null}
        <IconButton label={t(isFolded ? "unfold" : "fold")} onClick={() => on.onFold(!isFolded)}>
          {isFolded ? <ChevronUp aria-hidden="true" className="size-4" /> : <ChevronDown aria-hidden="true" className="size-4" />}
        </IconButton>
        {canClose ? (
          <IconButton label={t("close")} onClick={on.onClose}>
            <X aria-hidden="true" className="size-4" />
          </IconButton>
        ) : null}
      </div>
      {alarms > 0 ? (
        <p role="alert" className="border-t border-line bg-bad-soft px-3 py-1.5 font-medium text-bad">
          {t("alarm", { count: alarms })}
        </p>
      ) : null}
      {isFolded ? null : (
        <div className="border-t border-line">
          <AlarmList alarms={earlier} />
          {hasBoth ? (
            <Choices
              label={t("label")}
              choices={[
                { key: "uploads", text: `${t("uploads")} ${tally.all}` },
                { key: "downloads", text: `${t("downloads")} ${tasks}` },
              ]}
              chosen={shown}
              onChoose={on.onView}
            />
          ) : null}
          {shown === "uploads" && tally.all > 0 ? (
            <>
              <FilterChoice tally={tally} filter={filter} onFilter={setFilter} />
              <UploadList items={filterItems(queue.items, filter)} onDetails={on.onDetails} />
            </>
          ) : null}
          {shown === "downloads" ? <DownloadList downloads={downloads} connection={connection} canAdd={canAdd} /> : null}
          {tally.all === 0 && tasks === 0 && earlier.length === 0 ? (
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

type SummaryProps = { shown: TrayView; tally: Tally; isPaused: boolean; underWay: number };

function Summary({ shown, tally, isPaused, underWay }: SummaryProps) {
  const t = useTranslations("uploads.tray");
  if (shown === "downloads") return `${t("downloads")}${underWay > 0 ? ` · ${t("underWay", { count: underWay })}` : ""}`;
  if (tally.all === 0) return t("label");
  const isAllKnown = tally.known === tally.all;
  const parts = [isAllKnown ? t("allKnown", { count: tally.known }) : t("summary", { stored: tally.stored, all: tally.all })];
  if (tally.known > 0 && !isAllKnown) parts.push(t("known", { count: tally.known }));
  if (tally.underWay > 0) parts.push(t("underWay", { count: tally.underWay }));
  else if (isPaused) parts.push(t("allPaused"));
  if (tally.problems > 0) parts.push(t("problems", { count: tally.problems }));
  if (tally.noPictures > 0) parts.push(t("unreadable", { count: tally.noPictures }));
  return parts.join(" · ");
}

function AllActs({ queue, tally, onDescribeAll }: { queue: UploadQueue; tally: Tally; onDescribeAll: () => void }) {
  const t = useTranslations("uploads.tray");
  const canPause = !queue.isPaused && tally.unfinished > 0;
  const canResume = queue.isPaused || tally.paused > 0;
  const hasFailed = queue.items.some(({ status }) => status.kind === "failed");
  const act = (key: "pauseAll" | "resumeAll" | "retryAll" | "dropFailed" | "cancelAll" | "clear" | "editAll" | "ask", run: () => void) => ({
    key,
    label: t(key),
    onSelect: run,
  });
  return (
    <Menu
      size="small"
      label={t("actions")}
      items={[
        ...(canPause ? [act("pauseAll", tabUploads.pauseAll)] : []),
        ...(canResume ? [act("resumeAll", tabUploads.resumeAll)] : []),
        ...(hasFailed ? [act("retryAll", tabUploads.retryAll), act("dropFailed", tabUploads.dropFailed)] : []),
        act("editAll", onDescribeAll),
        ...(tally.stored > 0 ? [act("clear", tabUploads.clear)] : []),
        ...(tally.unfinished > 0 ? [act("cancelAll", tabUploads.cancelAll)] : []),
        ...(uploadHabits.get().ask ? [] : [act("ask", () => uploadHabits.set(usualHabits))]),
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

function IconButton({ label, onClick, children }: { label: string; onClick: () => void; children: ReactNode }) {
  return (
    <Button tone="quiet" size="small-icon" aria-label={label} title={label} onClick={onClick}>
      {children}
    </Button>
  );
}
