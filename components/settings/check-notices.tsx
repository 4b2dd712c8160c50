import { useLocale, useTranslations } from "next-intl";
import { connectionTones } from "@/components/frame/counts-context";
import { cn } from "@/components/ui/cn";
import { type Tone, ToneIcon, toneStyle } from "@/components/ui/status-badge";
import { type ConnectionCheck } from "@/lib/contract/console";
import { type Runner, type RunnerCheck } from "@/lib/contract/runners/runners";
import { formatBytes } from "@/lib/shared/text";

/** Shows the outcome of a connection check, with the remedy for problems. */
export function ConnectionCheckNotice({ check }: { check: ConnectionCheck }) {
  const t = useTranslations("settings.outcome");
  const tone = connectionTones[check.outcome];
  const messageKey = check.outcome === "active" && check.dialect === "local" ? "local" : check.outcome;
  const waitMs = check.outcome === "failing" ? (check.retryAfterMs ?? 0) : 0;
  const remedy = waitMs > 0 ? t("failing.wait", { seconds: Math.ceil(waitMs / 1000) }) : t(`${messageKey}.next`);
  return (
    <OutcomeNotice
      outcome={check.outcome}
      tone={tone}
      title={t(`${messageKey}.title`)}
      remedy={remedy}
      detail={tone === "bad" ? check.message : undefined}
    />
  );
}

type OutcomeNoticeProps = {
  outcome: string;
  tone: Tone;
  title: string;
  remedy: string;
  /** The server's own message or address. */
  detail?: string;
};

function OutcomeNotice({ outcome, tone, title, remedy, detail }: OutcomeNoticeProps) {
  return (
    <div role="status" data-outcome={outcome} className={cn("flex gap-2 rounded-md px-3 py-2", toneStyle[tone])}>
      <span className="mt-0.5">
        <ToneIcon tone={tone} />
      </span>
      <div className="min-w-0">
        <p className="font-semibold">{title}</p>
        <p className="text-ink-2">{remedy}</p>
        {detail ? <p className="mt-1 font-mono text-sm break-words text-ink-2">{detail}</p> : null}
      </div>
    </div>
  );
}

/** Shows the kind of server at a URL, or the problem and its remedy. */
export function RunnerCheckNotice({ check }: { check: RunnerCheck }) {
  const t = useTranslations("runners");
  const locale = useLocale();
  if (!check.ok) return <RunnerProblemNotice {...check} />;
  const { version, classes, devices } = check.facts;
  const deviceNames = devices.map(({ name, vramTotal }) => (vramTotal === null ? name : `${name}, ${formatBytes(vramTotal, locale)}`));
  return (
    <OutcomeNotice
      outcome="fine"
      tone="ok"
      title={t("form.fine.title")}
      remedy={t("form.fine.text", { version: version ?? "none", classes, devices: deviceNames.join("; ") })}
    />
  );
}

/** Shows why a runner gets no jobs, with the runner's own message. */
export function RunnerProblemNotice({ code, message }: NonNullable<Runner["reason"]>) {
  const t = useTranslations("runners.problem");
  return <OutcomeNotice outcome={code} tone="bad" title={t(`${code}.title`)} remedy={t(`${code}.next`)} detail={message} />;
}
