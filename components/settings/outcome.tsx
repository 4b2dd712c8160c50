import { useLocale, useTranslations } from "next-intl";
import { connectionTone } from "@/components/frame/counts-context";
import { cn } from "@/components/ui/cn";
import { type Tone, ToneIcon, toneStyle } from "@/components/ui/status-badge";
import { type ConnectionCheck } from "@/lib/contract/console";
import { type Runner, type RunnerCheck } from "@/lib/contract/runners/runners";
import { formatBytes } from "@/lib/shared/text";

/** The message of a check's outcome: the problem and the remedy. */
export function Outcome({ check }: { check: ConnectionCheck }) {
  const t = useTranslations("settings.outcome");
  const tone = connectionTone[check.outcome];
  const messageKey = check.outcome === "active" && check.dialect === "local" ? "local" : check.outcome;
  const waitMs = check.outcome === "failing" ? (check.retryAfterMs ?? 0) : 0;
  const next = waitMs > 0 ? t("failing.wait", { seconds: Math.ceil(waitMs / 1000) }) : t(`${messageKey}.next`);
  return (
    <OutcomeNote
      outcome={check.outcome}
      tone={tone}
      title={t(`${messageKey}.title`)}
      next={next}
      detail={tone === "bad" ? check.message : undefined}
    />
  );
}

type OutcomeNoteProps = {
  outcome: string;
  tone: Tone;
  title: string;
  next: string;
  /** The other side's own message, or its address. */ detail?: string;
};

function OutcomeNote({ outcome, tone, title, next, detail }: OutcomeNoteProps) {
  return (
    <div role="status" data-outcome={outcome} className={cn("flex gap-2 rounded-md px-3 py-2", toneStyle[tone])}>
      <span className="mt-0.5">
        <ToneIcon tone={tone} />
      </span>
      <div className="min-w-0">
        <p className="font-semibold">{title}</p>
        <p className="text-ink-2">{next}</p>
        {detail ? <p className="mt-1 font-mono text-sm break-words text-ink-2">{detail}</p> : null}
      </div>
    </div>
  );
}

/** The kind of server at an address, or the problem and its remedy. */
export function CheckNote({ check }: { check: RunnerCheck }) {
  const t = useTranslations("runners");
  const locale = useLocale();
  if (!check.ok) return <ProblemNote {...check} />;
  const { version, classes, devices } = check.facts;
  const deviceNames = devices.map(({ name, vramTotal }) => (vramTotal === null ? name : `${name}, ${formatBytes(vramTotal, locale)}`));
  return (
    <OutcomeNote
      outcome="fine"
      tone="ok"
      title={t("form.fine.title")}
      next={t("form.fine.text", { version: version ?? "none", classes, devices: deviceNames.join("; ") })}
    />
  );
}

/** Why a runner gets no jobs, with its own message. */
export function ProblemNote({ code, message }: NonNullable<Runner["reason"]>) {
  const t = useTranslations("runners.problem");
  return <OutcomeNote outcome={code} tone="bad" title={t(`${code}.title`)} next={t(`${code}.next`)} detail={message} />;
}
