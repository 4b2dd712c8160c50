import { useTranslations } from "next-intl";
import { connectionTone } from "@/components/frame/connection/connection-status";
import { cn } from "@/components/ui/cn";
import { type Tone, toneStyle } from "@/components/ui/tone";
import { ToneIcon } from "@/components/ui/tone-icon";
import { type ConnectionCheck } from "@/lib/contract/console";

/** Each outcome has its own sentences: what it is, whose fault it is, what to do. */
export function Outcome({ check }: { check: ConnectionCheck }) {
  const t = useTranslations("settings.outcome");
  const tone = connectionTone[check.outcome];
  const words = check.outcome === "active" && check.dialect === "local" ? "local" : check.outcome;
  const waitMs = check.outcome === "failing" ? (check.retryAfterMs ?? 0) : 0;
  const next = waitMs > 0 ? t("failing.wait", { seconds: Math.ceil(waitMs / 1000) }) : t(`${words}.next`);
  return (
    <OutcomeNote
      outcome={check.outcome}
      tone={tone}
      title={t(`${words}.title`)}
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

export function OutcomeNote({ outcome, tone, title, next, detail }: OutcomeNoteProps) {
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
