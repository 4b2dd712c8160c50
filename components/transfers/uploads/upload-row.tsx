import { Info, Pause, Play, RotateCw, X } from "lucide-react";
import { useLocale, useTranslations } from "next-intl";
import { memo } from "react";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { FileName } from "@/components/ui/cut";
import { ProgressBar } from "@/components/ui/progress-bar";
import { type Tone } from "@/components/ui/tone";
import { ToneIcon } from "@/components/ui/tone-icon";
import { formatBytes } from "@/lib/shared/format";
import { tabUploads } from "./tab-uploads";
import { isAlarm, isUnderWay, isUnfinished, isUnwritten, type UploadItem } from "./upload-item";
import { cannotChange, shareOfStep, stateText, toneOf } from "./upload-words";

export const ROW_PX = 56;

const ink: Readonly<Record<Tone, string>> = {
  ok: "text-ok",
  run: "text-run",
  wait: "text-wait",
  bad: "text-bad",
  off: "text-off",
  unknown: "text-ink-2",
};

type UploadRowProps = { item: UploadItem; onDetails: (key: number) => void };

/** All rows have the same height, with two lines for the state; a click shows all details. */
export const UploadRow = memo(function UploadRow({ item, onDetails }: UploadRowProps) {
  const t = useTranslations("uploads");
  const errors = useTranslations("errors");
  const locale = useLocale();
  const { key, file, status } = item;
  const tone = toneOf(item);
  const text = stateText(item, { t, errors, locale });
  const share = shareOfStep(item);
  const name = item.about.name || file.name;
  const canPause = status.kind === "waiting" || (isUnderWay(item) && status.kind !== "checking");
  const canResume = status.kind === "paused";
  return (
    <div className="flex h-[56px] items-center gap-2 px-3">
      <span className={cn("shrink-0", ink[tone])}>
        <ToneIcon tone={tone} />
      </span>
      <div className="min-w-0 flex-1">
        <p className="flex items-baseline gap-2">
          <span className="min-w-0 flex-1 truncate" title={name}>
            <FileName name={name} />
          </span>
          <span className="shrink-0 text-sm text-ink-3">{formatBytes(file.size, locale)}</span>
        </p>
        <p className="flex items-center gap-2 text-sm">
          <span
            className={cn("line-clamp-2 min-w-0 flex-1 leading-[15px] break-words", tone === "bad" ? "text-bad" : "text-ink-2")}
            title={text}
            role={isAlarm(item) ? "alert" : undefined}
          >
            {text}
          </span>
          {share === undefined ? null : <ProgressBar value={share} label={`${name}: ${text}`} className="w-16 shrink-0" />}
        </p>
      </div>
      <span className="flex shrink-0">
        {canPause ? <Act icon={Pause} label={t("act.pause", { name })} onClick={() => tabUploads.pause(key)} /> : null}
        {canResume ? <Act icon={Play} label={t("act.resume", { name })} onClick={() => tabUploads.again(key)} /> : null}
        {status.kind === "failed" || (isUnwritten(item) && !cannotChange(item)) ? (
          <Act icon={RotateCw} label={t("act.again", { name })} onClick={() => tabUploads.again(key)} />
        ) : null}
        <Act icon={Info} label={t("act.details", { name })} onClick={() => onDetails(key)} />
        <Act icon={X} label={t(isUnfinished(item) ? "act.cancel" : "act.dismiss", { name })} onClick={() => tabUploads.remove(key)} />
      </span>
    </div>
  );
});

export function Act({ icon: Icon, label, onClick, busy }: { icon: typeof X; label: string; onClick: () => void; busy?: boolean }) {
  return (
    <Button tone="quiet" size="small-icon" aria-label={label} title={label} onClick={onClick} busy={busy}>
      <Icon aria-hidden="true" className="size-3.5" />
    </Button>
  );
}
