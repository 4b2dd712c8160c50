import { Info, type LucideIcon, Pause, Play, RotateCw, SquareArrowOutUpRight, X } from "lucide-react";
import { useLocale, useTranslations } from "next-intl";
import { memo, type ReactNode, useEffect, useRef, useState } from "react";
import { cn } from "@/components/ui/cn";
import { IconButton } from "@/components/ui/controls/button";
import { ButtonLink } from "@/components/ui/link";
import { ProgressBar } from "@/components/ui/skeleton";
import { type Tone, ToneIcon, toneInk } from "@/components/ui/status-badge";
import { FileName } from "@/components/ui/truncated";
import { withQuery } from "@/lib/browser/urls";
import { formatBytes } from "@/lib/shared/text";
import { tabUploads } from "./tab-uploads";
import { isAlarm, isUnderWay, isUnfinished, isUnwritten, type UploadItem } from "./upload-item";
import { cannotChange, getStepShare, getTone, stateText } from "./upload-state";

/** Extra rows above and below the visible ones. */
const OVERSCAN_ROWS = 6;
const HEIGHT_PX = 312;

/** May list thousands of files, so it renders only rows near the viewport. */
export function UploadList({ items, onDetails }: { items: readonly UploadItem[]; onDetails: (key: number) => void }) {
  const t = useTranslations("uploads");
  const scroller = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const visibleRows = Math.ceil(HEIGHT_PX / ROW_PX);
  const from = Math.max(0, Math.min(Math.floor(top / ROW_PX), items.length - visibleRows) - OVERSCAN_ROWS);
  const to = Math.min(items.length, from + visibleRows + 2 * OVERSCAN_ROWS);
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
        <Spacer rows={from} />
        {items.slice(from, to).map((item, at) => (
          <li key={item.key} aria-setsize={items.length} aria-posinset={from + at + 1} className="border-b border-line last:border-0">
            <UploadRow item={item} onDetails={onDetails} />
          </li>
        ))}
        <Spacer rows={items.length - to} />
      </ul>
    </div>
  );
}

/** An SVG can have a height without an inline style. */
function Spacer({ rows }: { rows: number }) {
  return rows > 0 ? (
    <li aria-hidden="true">
      <svg className="block" width="1" height={rows * ROW_PX} />
    </li>
  ) : null;
}

const ROW_PX = 56;

type UploadRowProps = { item: UploadItem; onDetails: (key: number) => void };

/** All rows have the same height, with two lines for the state. */
const UploadRow = memo(function UploadRow({ item, onDetails }: UploadRowProps) {
  const t = useTranslations("uploads");
  const errors = useTranslations("errors");
  const locale = useLocale();
  const { key, file, status } = item;
  const tone = getTone(item);
  const text = stateText(item, { t, errors, locale });
  const share = getStepShare(item);
  const name = item.assetFields.name || file.name;
  const canPause = status.kind === "waiting" || (isUnderWay(item) && status.kind !== "checking");
  const actions: (TransferAction | false)[] = [
    canPause && { icon: Pause, label: t("act.pause", { name }), onClick: () => tabUploads.pause(key) },
    status.kind === "paused" && { icon: Play, label: t("act.resume", { name }), onClick: () => tabUploads.again(key) },
    (status.kind === "failed" || (isUnwritten(item) && !cannotChange(item))) && {
      icon: RotateCw,
      label: t("act.again", { name }),
      onClick: () => tabUploads.again(key),
    },
    { icon: Info, label: t("act.details", { name }), onClick: () => onDetails(key) },
    { icon: X, label: t(isUnfinished(item) ? "act.cancel" : "act.dismiss", { name }), onClick: () => tabUploads.remove(key) },
  ];
  return (
    <TransferRow
      tone={tone}
      name={name}
      note={formatBytes(file.size, locale)}
      actions={actions}
      text={
        <span
          className={cn("line-clamp-2 min-w-0 flex-1 leading-[15px] break-words", tone === "bad" ? "text-bad" : "text-ink-2")}
          title={text}
          role={isAlarm(item) ? "alert" : undefined}
        >
          {text}
        </span>
      }
      progress={share === undefined ? undefined : { value: share, label: `${name}: ${text}` }}
      className="h-[56px]"
    />
  );
});

type TransferAction = { icon: LucideIcon; label: string; onClick: () => void; isBusy?: boolean };
type TransferRowProps = {
  tone: Tone;
  name: string;
  title?: string;
  note: ReactNode;
  text: ReactNode;
  progress?: { value: number; label: string };
  /** Before the actions. */
  link?: ReactNode;
  actions: readonly (TransferAction | false)[];
  className?: string;
  children?: ReactNode;
};

/** A row of the tray: an upload or a download. */
export function TransferRow({ tone, name, title = name, note, text, progress, link, actions, className, children }: TransferRowProps) {
  return (
    <div className={cn("flex items-center gap-2 px-3", className)}>
      <span className={cn("shrink-0", toneInk[tone])}>
        <ToneIcon tone={tone} />
      </span>
      <div className="min-w-0 flex-1">
        <p className="flex items-baseline gap-2">
          <span className="min-w-0 flex-1 truncate" title={title}>
            <FileName name={name} />
          </span>
          <span className="shrink-0 text-sm text-ink-3">{note}</span>
        </p>
        <p className="flex items-center gap-2 text-sm">
          {text}
          {progress ? <ProgressBar {...progress} className="w-16 shrink-0" /> : null}
        </p>
        {children}
      </div>
      <span className="flex shrink-0">
        {link}
        {actions.map((action) => {
          if (!action) return null;
          const { isBusy, ...button } = action;
          return <IconButton key={action.label} size="small-icon" tone="quiet" busy={isBusy} {...button} />;
        })}
      </span>
    </div>
  );
}

/** A link to the stored asset. */
export function OpenAsset({ assetId, name, connection }: { assetId: string; name: string; connection?: string }) {
  const t = useTranslations("uploads.act");
  return (
    <ButtonLink
      href={withQuery(`/assets/${encodeURIComponent(assetId)}`, { connection })}
      aria-label={`${t("open")}: ${name}`}
      title={t("open")}
      tone="quiet"
      size="small-icon"
    >
      <SquareArrowOutUpRight aria-hidden="true" className="size-3.5" />
    </ButtonLink>
  );
}
