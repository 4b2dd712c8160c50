"use client";

import { useLocale, useTranslations } from "next-intl";
import { use, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Freshness } from "@/components/frame/list/tool-bar";
import { PageHeader } from "@/components/frame/page-header";
import { Card } from "@/components/ui/card";
import { Fact } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { EmptyState } from "@/components/ui/empty-state";
import { ProgressBar } from "@/components/ui/skeleton";
import { StatusBadge } from "@/components/ui/status-badge";
import { type Tone } from "@/components/ui/status-badge";
import { durationText, KnownUntil } from "@/components/ui/time/relative-time";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { useNumber } from "@/components/ui/time/use-clock";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type Motion } from "@/lib/browser/poll/poll-plan";
import { initialOf, type Poll, type Stamped, usePoll } from "@/lib/browser/poll/use-poll";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type Failure } from "@/lib/contract/failure";
import { type Role } from "@/lib/contract/people/roles";
import { type Runner } from "@/lib/contract/runners/runners";
import { formatBytes } from "@/lib/shared/format";
import { type Result } from "@/lib/shared/result";
import { ProblemNote } from "../outcome";
import { RemovalDialog } from "../revocable-list";
import { SettingsTabs } from "../settings-tabs";
import { RunnerForm, runnerPath } from "./runner-form";

type Reading = Promise<Result<Stamped<Runner[]>, Failure>>;
/** `runners` is absent for roles that may not see them. */
type RunnersScreenProps = { role: Role; canChange: boolean; runners?: Reading };

export function RunnersScreen({ role, canChange, runners }: RunnersScreenProps) {
  const t = useTranslations("runners");
  const settings = useTranslations("settings");
  const roleName = useTranslations("frame.member.role");
  if (runners) return <Runners canChange={canChange} runners={runners} />;
  return (
    <>
      <PageHeader title={settings("title")} />
      <SettingsTabs current="runners" />
      <p className="p-4 text-ink-2 md:px-5">{t("notYours", { role: roleName(role) })}</p>
    </>
  );
}

const toRunners = (answer: { runners: Runner[] }) => answer.runners;
const motionOf = (runners: Runner[]): Motion =>
  runners.some(({ running, state }) => running > 0 || state === "checking") ? "moving" : "still";

const sentences = { pause: "paused", drain: "drained", resume: "resumed", remove: "removed" } as const;

function Runners({ canChange, runners }: { canChange: boolean; runners: Reading }) {
  const t = useTranslations("runners");
  const settings = useTranslations("settings");
  const poll = usePoll(runnerPath(), { ...initialOf(use(runners)), read: toRunners, motion: motionOf });
  const [open, setOpen] = useState<Runner | "new">();
  const [leaving, setLeaving] = useState<Runner>();
  const acts = useRunnerActs(poll);
  const list = poll.value;
  const isAlone = list?.every(({ address }) => address === null) === true;
  const add = canChange ? (
    <Button tone="primary" onClick={() => setOpen("new")}>
      {t("add")}
    </Button>
  ) : null;
  function saved({ label }: Pick<Runner, "label">, isNew: boolean) {
    setOpen(undefined);
    showToast({ tone: "ok", text: t(isNew ? "added" : "saved", { name: label }) });
    void poll.refresh();
  }
  return (
    <>
      <PageHeader title={settings("title")}>
        <Freshness atMs={poll.atMs} everyMs={poll.everyMs} isFailing={poll.failure !== undefined} />
        {list && !open && !isAlone ? add : null}
      </PageHeader>
      <SettingsTabs current="runners" />
      <div className="flex w-full max-w-[860px] flex-col gap-3.5 p-4 md:px-5">
        <p className="max-w-[80ch] text-ink-2">{t("intro")}</p>
        {open ? (
          <RunnerForm
            key={open === "new" ? "new" : open.id}
            runner={open === "new" ? undefined : open}
            onSaved={(runner) => saved(runner, open === "new")}
            onClose={() => setOpen(undefined)}
          />
        ) : null}
        {poll.failure ? <FailureMessage failure={poll.failure} onRetry={() => void poll.refresh()} /> : null}
        {acts.failure ? <FailureMessage failure={acts.failure} /> : null}
        {list ? (
          <KnownUntil value={poll.failure && poll.atMs}>
            <Card title={t("title")} note={list.length} bodyClassName="p-0">
              <ul>
                {list.map((runner) => (
                  <RunnerItem
                    key={runner.id}
                    runner={runner}
                    canChange={canChange}
                    busyWith={acts.busy?.id === runner.id ? acts.busy.act : undefined}
                    onAct={(act) => {
                      if (act === "change") setOpen(runner);
                      else if (act === "remove") setLeaving(runner);
                      else void acts.run(runner, act);
                    }}
                  />
                ))}
              </ul>
              {isAlone && !open && !poll.failure ? (
                <EmptyState title={t("onlyBuiltIn.title")} text={t("onlyBuiltIn.text")} action={add} />
              ) : null}
            </Card>
          </KnownUntil>
        ) : null}
      </div>
      <RemovalDialog
        leaving={leaving && { ...leaving, name: leaving.label }}
        title={t("removeTitle", { name: leaving?.label ?? "" })}
        onRemove={(gone) => {
          setLeaving(undefined);
          void acts.run(gone, "remove");
        }}
        onClose={() => setLeaving(undefined)}
      >
        {t("removeText", { running: leaving?.running ?? 0 })}
      </RemovalDialog>
    </>
  );
}

/** One act at a time; the list shows the outcome. */
function useRunnerActs(poll: Pick<Poll<Runner[]>, "refresh">) {
  const t = useTranslations("runners");
  const [busy, setBusy] = useState<{ id: string; act: RunnerAct }>();
  const [failure, setFailure] = useState<ApiFailure>();
  async function run({ id, label }: Runner, act: keyof typeof sentences) {
    setBusy({ id, act });
    const done =
      act === "remove"
        ? await callApi(runnerPath(id), { method: "DELETE" })
        : await callApi(runnerPath(id, "state"), { method: "PUT", json: { state: stateAfter[act] } });
    await poll.refresh();
    setBusy(undefined);
    setFailure(done.ok ? undefined : done.failure);
    if (done.ok) showToast({ tone: act === "resume" ? "ok" : "off", text: t(sentences[act], { name: label }) });
  }
  return { busy, failure, run };
}

const stateAfter = { pause: "paused", drain: "draining", resume: "ready" } as const;

type RunnerAct = "pause" | "drain" | "resume" | "change" | "remove";
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

function RunnerItem({ runner, canChange, busyWith, onAct }: RunnerItemProps) {
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
