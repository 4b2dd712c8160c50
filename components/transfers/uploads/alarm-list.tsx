import { X } from "lucide-react";
import { useLocale, useTranslations } from "next-intl";
import { FileName } from "@/components/ui/cut";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { ToneIcon } from "@/components/ui/tone-icon";
import { formatBytes } from "@/lib/shared/format";
import { type KeptAlarm, keptAlarms } from "./alarm-book";
import { OpenAsset } from "./open-asset";
import { Act } from "./upload-row";

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
