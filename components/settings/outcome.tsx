import { useTranslations } from "next-intl";
import { connectionTone } from "@/components/frame/connection/connection-status";
import { cn } from "@/components/ui/cn";
import { toneStyle } from "@/components/ui/tone";
import { ToneIcon } from "@/components/ui/tone-icon";
import { type ConnectionCheck } from "@/lib/contract/console";

/** To each outcome its own sentences: what it is, whose it is, what to do. */
export function Outcome({ check }: { check: ConnectionCheck }) {
  const t = useTranslations("settings.outcome");
  const tone = connectionTone[check.outcome];
  const words = check.outcome === "active" && check.dialect === "local" ? "local" : check.outcome;
  const waitMs = check.outcome === "failing" ? (check.retryAfterMs ?? 0) : 0;
  const next = waitMs > 0 ? t("failing.wait", { seconds: Math.ceil(waitMs / 1000) }) : t(`${words}.next`);
  const hasFailed = tone === "bad";
  return (
    <div role="status" data-outcome={check.outcome} className={cn("flex gap-2 rounded-md px-3 py-2", toneStyle[tone])}>
      <span className="mt-0.5">
        <ToneIcon tone={tone} />
      </span>
      <div className="min-w-0">
        <p className="font-semibold">{t(`${words}.title`)}</p>
        <p className="text-ink-2">{next}</p>
        {hasFailed && check.message ? <p className="mt-1 font-mono text-sm break-words text-ink-2">{check.message}</p> : null}
      </div>
    </div>
  );
}
