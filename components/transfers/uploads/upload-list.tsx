import { Info, Pause, Play, RotateCw, SquareArrowOutUpRight, X } from "lucide-react";
import { useLocale, useTranslations } from "next-intl";
import { memo, useEffect, useRef, useState } from "react";
import { cn } from "@/components/ui/cn";
import { Button, buttonStyle } from "@/components/ui/controls/button";
import { FileName } from "@/components/ui/cut";
import { Link } from "@/components/ui/link";
import { ProgressBar } from "@/components/ui/skeleton";
import { type Tone, ToneIcon } from "@/components/ui/status-badge";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { withQuery } from "@/lib/browser/urls";
import { formatBytes } from "@/lib/shared/format";
import { tabUploads } from "./tab-uploads";
import { isAlarm, isUnderWay, isUnfinished, isUnwritten, type KeptAlarm, keptAlarms, type UploadItem } from "./upload-item";
import { cannotChange, shareOfStep, stateText, toneOf } from "./upload-state";

/** Extra rows above and below the visible ones. */
const MARGIN = 6;
const HEIGHT_PX = 312;

/** May list thousands of files, and renders only those near the view. The focused row stays rendered. */
export function UploadList({ items, onDetails }: { items: readonly UploadItem[]; onDetails: (key: number) => void }) {
  const t = useTranslations("uploads");
  const scroller = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const shown = Math.ceil(HEIGHT_PX / ROW_PX);
  const from = Math.max(0, Math.min(Math.floor(top / ROW_PX), items.length - shown) - MARGIN);
  const to = Math.min(items.length, from + shown + 2 * MARGIN);
  // A list that became shorter changes the scroll position.
  useEffect(() => setTop(scroller.current?.scrollTop ?? 0), [items.length]);
  if (items.length === 0) return <p className="px-3 py-4 text-center text-ink-3">{t("tray.none")}</p>;
  return (
    <div
      ref={scroller}
      tabIndex={0}
      role="region"
      aria-label={t("tray.list")}
      className="max-h-[min(312px,46dvh)] overflow-y-auto"
      onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
    >
      <ul>
        <Space rows={from} />
        {items.slice(from, to).map((item, at) => (
          <li key={item.key} aria-setsize={items.length} aria-posinset={from + at + 1} className="border-b border-line last:border-0">
            <UploadRow item={item} onDetails={onDetails} />
          </li>
        ))}
        <Space rows={items.length - to} />
      </ul>
    </div>
  );
}

/** An SVG can have a height without an inline style. */
function Space({ rows }: { rows: number }) {
  return rows > 0 ? (
    <li aria-hidden="true">
      <svg className="block" width="1" height={rows * ROW_PX} />
    </li>
  ) : null;
}

const ROW_PX = 56;

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
const UploadRow = memo(function UploadRow({ item, onDetails }: UploadRowProps) {
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

/** Alarms of an earlier visit. Each stays until a person dismisses it. */
export function AlarmList({ alarms }: { alarms: readonly KeptAlarm[] }) {
  const t = useTranslations("uploads");
  const locale = useLocale();
  if (alarms.length === 0) return null;
  return (
    <div role="region" aria-label={t("tray.alarms")} tabIndex={0} className="max-h-[30dvh] overflow-y-auto border-b border-line">
      <ul>
        {alarms.map(({ id, name, size, theirs, ours, assetId, connection, atMs }) => (
          <li key={id} className="flex items-start gap-2 border-b border-line px-3 py-1.5 last:border-0">
            <span className="shrink-0 pt-0.5 text-bad">
              <ToneIcon tone="bad" />
            </span>
            <div className="min-w-0 flex-1">
              <p className="flex items-baseline gap-2">
                <span className="min-w-0 flex-1 truncate" title={name}>
                  <FileName name={name} />
                </span>
                <span className="shrink-0 text-sm text-ink-3">
                  {formatBytes(size, locale)} · <RelativeTime ms={atMs} />
                </span>
              </p>
              <p className="truncate text-sm text-bad" title={ours ? `${theirs} ≠ blake3:${ours}` : theirs}>
                {t("state.differs", { theirs })}
              </p>
              <p className="text-sm text-ink-2">{t("item.alarm")}</p>
            </div>
            <span className="flex shrink-0">
              <OpenAsset assetId={assetId} name={name} connection={connection} />
              <Act icon={X} label={t("act.dismissAlarm", { name })} onClick={() => keptAlarms.remove(id)} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

type OpenAssetProps = { assetId: string; name: string; connection?: string };

/** A link from a line of the tray to the stored asset. */
export function OpenAsset({ assetId, name, connection }: OpenAssetProps) {
  const t = useTranslations("uploads.act");
  return (
    <Link
      href={withQuery(`/assets/${encodeURIComponent(assetId)}`, { connection })}
      aria-label={`${t("open")}: ${name}`}
      title={t("open")}
      className={buttonStyle({ tone: "quiet", size: "small-icon" })}
    >
      <SquareArrowOutUpRight aria-hidden="true" className="size-3.5" />
    </Link>
  );
}
