"use client";

import { useLocale, useTranslations } from "next-intl";
import { use, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Freshness } from "@/components/frame/list/tool-bar";
import { Card, Fact } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { EmptyState } from "@/components/ui/empty-state";
import { ProgressBar } from "@/components/ui/skeleton";
import { StatusBadge, type Tone } from "@/components/ui/status-badge";
import { ClampedClock, formatDuration, RelativeTime, useNumberFormat } from "@/components/ui/time";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type LiveValue, type TimedValue, toInitialOptions, useLive } from "@/lib/browser/live/use-live";
import { useRequests } from "@/lib/browser/use-read";
import { type Failure } from "@/lib/contract/failure";
import { type Role } from "@/lib/contract/members/roles";
import { type Runner } from "@/lib/contract/runners/runners";
import { type Result } from "@/lib/shared/result";
import { formatBytes } from "@/lib/shared/text";
import { RunnerProblemNotice } from "../check-notices";
import { RemovalDialog } from "../revocable-list";
import { SettingsPage } from "../settings-tabs";
import { getRunnerPath, RunnerForm } from "./runner-form";

type RunnersPromise = Promise<Result<TimedValue<Runner[]>, Failure>>;
/** `runners` is absent for roles that may not see them. */
type RunnersScreenProps = { role: Role; canChange: boolean; runners?: RunnersPromise };

export function RunnersScreen({ role, canChange, runners }: RunnersScreenProps) {
  const t = useTranslations("runners");
  const roleName = useTranslations("frame.member.role");
  if (runners) return <RunnerList canChange={canChange} runners={runners} />;
  return (
    <SettingsPage current="runners">
      <p className="text-ink-2">{t("notYours", { role: roleName(role) })}</p>
    </SettingsPage>
  );
}

const toRunners = (response: { runners: Runner[] }) => response.runners;

const toastKeys = { pause: "paused", drain: "drained", resume: "resumed", remove: "removed" } as const;

function RunnerList({ canChange, runners }: { canChange: boolean; runners: RunnersPromise }) {
  const t = useTranslations("runners");
  const live = useLive(getRunnerPath(), { ...toInitialOptions(use(runners)), read: toRunners });
  const [openRunner, setOpenRunner] = useState<Runner | "new">();
  const [removalTarget, setRemovalTarget] = useState<Runner>();
  const actions = useRunnerActions(live);
  const list = live.value;
  const hasOnlyBuiltIn = list?.every(({ address }) => address === null) === true;
  const addButton = canChange ? (
    <Button tone="primary" onClick={() => setOpenRunner("new")}>
      {t("add")}
    </Button>
  ) : null;
  function handleSaved({ label }: Pick<Runner, "label">, isNew: boolean) {
    setOpenRunner(undefined);
    showToast({ tone: "ok", text: t(isNew ? "added" : "saved", { name: label }) });
    void live.refresh();
  }
  return (
    <SettingsPage
      current="runners"
      tools={
        <>
          <Freshness atMs={live.atMs} isFailing={live.failure !== undefined} />
          {list && !openRunner && !hasOnlyBuiltIn ? addButton : null}
        </>
      }
    >
      <p className="max-w-[80ch] text-ink-2">{t("intro")}</p>
      {openRunner ? (
        <RunnerForm
          key={openRunner === "new" ? "new" : openRunner.id}
          runner={openRunner === "new" ? undefined : openRunner}
          onSaved={(runner) => handleSaved(runner, openRunner === "new")}
          onClose={() => setOpenRunner(undefined)}
        />
      ) : null}
      {live.failure ? <FailureMessage failure={live.failure} onRetry={() => void live.refresh()} /> : null}
      {actions.failure ? <FailureMessage failure={actions.failure} /> : null}
      {list ? (
        <ClampedClock value={live.failure && live.atMs}>
          <Card title={t("title")} note={list.length} bodyClassName="p-0">
            <ul>
              {list.map((runner) => (
                <RunnerItem
                  key={runner.id}
                  runner={runner}
                  canChange={canChange}
                  isBusyWith={(runnerAction) => actions.busyWith === `${runnerAction} ${runner.id}`}
                  onAction={(runnerAction) => {
                    if (runnerAction === "change") setOpenRunner(runner);
                    else if (runnerAction === "remove") setRemovalTarget(runner);
                    else void actions.run(runner, runnerAction);
                  }}
                />
              ))}
            </ul>
            {hasOnlyBuiltIn && !openRunner && !live.failure ? (
              <EmptyState title={t("onlyBuiltIn.title")} text={t("onlyBuiltIn.text")} action={addButton} />
            ) : null}
          </Card>
        </ClampedClock>
      ) : null}

      <RemovalDialog
        item={removalTarget && { ...removalTarget, name: removalTarget.label }}
        title={t("removeTitle", { name: removalTarget?.label ?? "" })}
        onRemove={(runner) => {
          setRemovalTarget(undefined);
          void actions.run(runner, "remove");
        }}
        onClose={() => setRemovalTarget(undefined)}
      >
        {t("removeText", { running: removalTarget?.running ?? 0 })}
      </RemovalDialog>
    </SettingsPage>
  );
}

/** Runs one action at a time. The list shows the outcome. */
function useRunnerActions(live: Pick<LiveValue<Runner[]>, "refresh">) {
  const t = useTranslations("runners");
  const { busyWith, failure, send } = useRequests<`${RunnerAction} ${string}`>();
  async function run({ id, label }: Runner, action: keyof typeof toastKeys) {
    const request =
      action === "remove"
        ? callApi(getRunnerPath(id), { method: "DELETE" })
        : callApi(getRunnerPath(id, "state"), { method: "PUT", json: { state: nextStates[action] } });
    // The buttons stay busy until the list shows the outcome.
    const result = await send(`${action} ${id}`, Promise.resolve(request).finally(live.refresh));
    if (result.ok) showToast({ tone: action === "resume" ? "ok" : "off", text: t(toastKeys[action], { name: label }) });
  }
  return { busyWith, failure, run };
}

const nextStates = { pause: "paused", drain: "draining", resume: "ready" } as const;

type RunnerAction = "pause" | "drain" | "resume" | "change" | "remove";
type RunnerItemProps = {
  runner: Runner;
  canChange: boolean;
  isBusyWith: (runnerAction: RunnerAction) => boolean;
  onAction: (runnerAction: RunnerAction) => void;
};

const stateTones: Readonly<Record<Runner["state"], Tone>> = {
  ready: "ok",
  draining: "wait",
  paused: "off",
  set_aside: "bad",
  unreachable: "bad",
  checking: "unknown",
};

/** The actions available in each state. */
const stateActions: Readonly<Record<Runner["state"], readonly RunnerAction[]>> = {
  ready: ["drain", "pause"],
  draining: ["resume", "pause"],
  paused: ["resume"],
  set_aside: ["resume"],
  unreachable: ["pause"],
  checking: ["pause"],
};

function RunnerItem({ runner, canChange, isBusyWith, onAction }: RunnerItemProps) {
  const t = useTranslations("runners");
  const { id, label, address, state, reason } = runner;
  const actions = [...stateActions[state], "change", ...(address === null ? [] : (["remove"] as const))] as const;
  const availableActions = canChange ? actions : [];
  return (
    <li data-runner={id} className="flex flex-col gap-2 border-b border-line px-3.5 py-3 last:border-b-0">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <h3 className="min-w-0 font-semibold break-words">{label}</h3>
        <StatusBadge tone={stateTones[state]} label={t(`state.${state}`)} title={t(`stateHint.${state}`)} />
        <span className="ml-auto flex flex-wrap gap-1.5">
          {availableActions.map((runnerAction) => (
            <Button
              key={runnerAction}
              size="small"
              tone={runnerAction === "remove" ? "danger" : "plain"}
              busy={isBusyWith(runnerAction)}
              aria-label={t("actOn", { act: t(runnerAction), name: label })}
              onClick={() => onAction(runnerAction)}
            >
              {t(runnerAction)}
            </Button>
          ))}
        </span>
      </div>
      {reason ? <RunnerProblemNotice {...reason} /> : null}
      <RunnerFacts runner={runner} />
    </li>
  );
}

function RunnerFacts({ runner }: { runner: Runner }) {
  const t = useTranslations("runners");
  const formatNumber = useNumberFormat();
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
        {meanRunMs === null ? null : `, ${t("mean", { duration: formatDuration(durations, meanRunMs) })}`}
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
      {lastSeenMs === null ? null : <Fact name={t("classes")}>{formatNumber(classes)}</Fact>}
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
