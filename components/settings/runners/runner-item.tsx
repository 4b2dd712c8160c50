import { useLocale, useTranslations } from "next-intl";
import { Button } from "@/components/ui/controls/button";
import { Fact } from "@/components/ui/fact";
import { useNumber } from "@/components/ui/hooks/use-numbers";
import { ProgressBar } from "@/components/ui/progress-bar";
import { StatusBadge } from "@/components/ui/status-badge";
import { durationText } from "@/components/ui/time/duration";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { type Tone } from "@/components/ui/tone";
import { type Runner } from "@/lib/contract/runners/runners";
import { formatBytes } from "@/lib/shared/format";
import { ProblemNote } from "./check-note";

export type RunnerAct = "pause" | "drain" | "resume" | "change" | "remove";
type RunnerItemProps = { runner: Runner; canChange: boolean; busyWith?: RunnerAct; onAct: (act: RunnerAct) => void };

const tones: Readonly<Record<Runner["state"], Tone>> = {
  ready: "ok",
  draining: "wait",
  paused: "off",
  set_aside: "bad",
  unreachable: "bad",
  checking: "unknown",
};

/** The acts that are possible in each state. */
const acts: Readonly<Record<Runner["state"], readonly RunnerAct[]>> = {
  ready: ["drain", "pause"],
  draining: ["resume", "pause"],
  paused: ["resume"],
  set_aside: ["resume"],
  unreachable: ["pause"],
  checking: ["pause"],
};

export function RunnerItem({ runner, canChange, busyWith, onAct }: RunnerItemProps) {
  const t = useTranslations("runners");
  const { id, label, address, state, reason } = runner;
  const own = [...acts[state], "change", ...(address === null ? [] : (["remove"] as const))] as const;
  const offered = canChange ? own : [];
  return (
    <li data-runner={id} className="flex flex-col gap-2 border-b border-line px-3.5 py-3 last:border-b-0">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <h3 className="min-w-0 font-semibold break-words">{label}</h3>
        <StatusBadge tone={tones[state]} word={t(`state.${state}`)} title={t(`stateHint.${state}`)} />
        <span className="ml-auto flex flex-wrap gap-1.5">
          {offered.map((act) => (
            <Button
              key={act}
              size="small"
              tone={act === "remove" ? "danger" : "plain"}
              busy={busyWith === act}
              aria-label={t("actOn", { act: t(act), name: label })}
              onClick={() => onAct(act)}
            >
              {t(act)}
            </Button>
          ))}
        </span>
      </div>
      {reason ? <ProblemNote {...reason} /> : null}
      <Facts runner={runner} />
    </li>
  );
}

function Facts({ runner }: { runner: Runner }) {
  const t = useTranslations("runners");
  const number = useNumber();
  const durations = useTranslations("common.duration");
  const { address, tags, slots, running, queue, done, failed, meanRunMs, version, devices, classes, lastSeenMs } = runner;
  return (
    <dl className="grid grid-cols-[92px_minmax(0,1fr)] gap-x-2 gap-y-1 text-ink-2">
      <Fact name={t("address")}>{address ?? t("builtIn")}</Fact>
      {tags.length > 0 ? <Fact name={t("tags")}>{tags.join(", ")}</Fact> : null}
      <Fact name={t("now")}>{t("nowText", { running, slots })}</Fact>
      {queue ? <Fact name={t("queueThere")}>{t("queueText", queue)}</Fact> : null}
      <Fact name={t("jobs")}>
        {t("jobsText", { done, failed })}
        {meanRunMs === null ? null : `, ${t("mean", { duration: durationText(durations, meanRunMs) })}`}
      </Fact>
      {version === null ? null : <Fact name={t("version")}>{version}</Fact>}
      {devices.length === 0 ? null : (
        <Fact name={t("devices")}>
          <ul className="flex flex-col gap-1">
            {devices.map((device, index) => (
              <Device key={index} {...device} />
            ))}
          </ul>
        </Fact>
      )}
      {lastSeenMs === null ? null : <Fact name={t("classes")}>{number(classes)}</Fact>}
      {address === null ? null : <Fact name={t("lastSeen")}>{lastSeenMs === null ? t("never") : <RelativeTime ms={lastSeenMs} />}</Fact>}
    </dl>
  );
}

function Device({ name, vramTotal, vramFree }: Runner["devices"][number]) {
  const t = useTranslations("runners");
  const locale = useLocale();
  const hasMemory = vramTotal !== null && vramFree !== null && vramTotal > 0;
  return (
    <li className="flex flex-wrap items-center gap-x-2">
      <span className="min-w-0 break-words">{name}</span>
      {hasMemory ? (
        <span className="flex items-center gap-2 text-ink-3">
          <ProgressBar value={1 - vramFree / vramTotal} label={t("memoryOf", { name })} className="inline-block h-1.5 w-24" />
          {t("memory", { used: formatBytes(vramTotal - vramFree, locale), total: formatBytes(vramTotal, locale) })}
        </span>
      ) : null}
    </li>
  );
}
