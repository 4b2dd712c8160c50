"use client";

import { X } from "lucide-react";
import { useTranslations } from "next-intl";
import { type ReactNode, useCallback, useEffect, useEffectEvent, useId, useMemo, useState } from "react";
import { PageHeader } from "@/components/frame/page-header";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/cn";
import { AdvancedCard, EXTRA_FIELD } from "./advanced-card";
import { checkGraph, outputNodes } from "./check";
import { FilePicker } from "./empty-run";
import { readExtra } from "./extra-data";
import { fieldDomId, focusProblem } from "./field-ids";
import { formBuilder } from "./form-model";
import { NodeCard } from "./node-card";
import { NodeOutline } from "./node-outline";
import { placeProblems } from "./node-problems";
import { own } from "./own";
import { PinnedCard } from "./pinned-card";
import { EarlierReceipts, NewestReceipt } from "./receipts";
import { RunButton, useRunKey } from "./run-button";
import { RunGraph } from "./run-graph";
import { type RunPorts } from "./run-ports";
import { type Advanced, type OpenWorkflow } from "./run-state";
import { newSeeds } from "./seeds";
import { TroubleNote } from "./trouble-note";
import { unknownActs } from "./unknown-acts";
import { useCatalogue } from "./use-catalogue";
import { type useRun } from "./use-run";
import { useWorkflowMemory } from "./use-workflow-memory";

type OpenRunProps = {
  canRun: boolean;
  run: ReturnType<typeof useRun>;
  opened: OpenWorkflow;
  ports: RunPorts;
  connection?: string;
  isOver: boolean;
  note: ReactNode;
};

const noneAdvanced: Advanced = {};

export function OpenRun({ canRun, run, opened, ports, connection, isOver, note }: OpenRunProps) {
  const t = useTranslations("run");
  const { state, dispatch } = run;
  const { serial, original, order, graph, ownNames, advanced = noneAdvanced } = opened;
  const { info, isMissing } = useCatalogue(connection, true);
  const build = useMemo(() => formBuilder(original, order, info), [original, order, info]);
  const form = useMemo(() => build(graph), [build, graph]);
  // Links cannot be edited, so the outputs are those of the file.
  const outputs = useMemo(() => {
    const ids = new Set(outputNodes(original, info));
    return form.flatMap(({ id, title }) => (ids.has(id) ? [{ id, title }] : []));
  }, [form, original, info]);
  const placed = useMemo(() => placeProblems(form, state.errors), [form, state.errors]);
  const onNamed = useCallback(
    (value: string, ownName: string) => dispatch({ type: "named", serial, value, name: ownName }),
    [dispatch, serial],
  );
  const picture = useMemo(
    () => ({ connection, sendPicture: ports.sendPicture, decode: ports.decode, ownNames, onNamed }),
    [connection, ports, ownNames, onNamed],
  );
  const name = opened.name || t("pasted");
  const [newest, ...earlier] = state.receipts;
  const [isDrawn, setDrawn] = useState(false);
  const whyNot = useId();
  const onEdit = useCallback(
    (nodeId: string, input: string, value: unknown) => dispatch({ type: "edited", serial, nodeId, name: input, value }),
    [dispatch, serial],
  );
  const settings = useWorkflowMemory(opened.workflowId);
  const press = (isAnyway = false) => {
    if (!canRun || state.isSending || state.uploading.length > 0) return;
    if (advanced.targets?.length === 0 || !readExtra(advanced.extra ?? "").ok) return document.getElementById(EXTRA_FIELD)?.focus();
    const found = checkGraph(graph, info);
    if (found && (found.isSure || !isAnyway)) return dispatch({ type: "checked", serial, found });
    for (const seed of newSeeds(form, settings.isRandomised)) onEdit(seed.nodeId, seed.name, seed.value);
    void run.run(name);
  };
  const unknown = { ...unknownActs(run, state.trouble), newestJobs: ports.newestJobs, onSendAgain: () => press(true) };
  const button = {
    isSending: state.isSending,
    uploading: state.uploading.length,
    ...(!canRun && { refusedBy: whyNot }),
    onRun: () => press(),
  };
  useRunKey(button.onRun);

  const onRunning = useCallback(
    (nodeId: string, input: string, isRunning: boolean) => dispatch({ type: "upload", serial, key: fieldDomId(nodeId, input), isRunning }),
    [dispatch, serial],
  );
  const attend = useEffectEvent(() => {
    if (placed.first) focusProblem(placed.first);
  });
  useEffect(() => {
    if (state.attention > 0) attend();
  }, [state.attention]);

  return (
    <>
      <PageHeader
        trail={<span className="max-sm:hidden">{t("title")} /</span>}
        title={<span className="block max-w-[40ch] truncate max-sm:-ml-2.5 max-sm:max-w-[16ch]">{name}</span>}
        badge={
          <span className="text-ink-3">
            {t("open.nodes", { count: form.length })}
            {opened.isEdited ? <span className="max-sm:hidden"> · {t("open.edited")}</span> : null}
          </span>
        }
      >
        <Button aria-pressed={isDrawn} onClick={() => setDrawn(!isDrawn)} className="aria-pressed:bg-off-soft">
          {t("open.graph")}
        </Button>
        <span className="max-sm:hidden">
          <FilePicker label={t("open.another")} onFiles={(files) => void run.openFiles(files)} />
        </span>
        <Button tone="quiet" size="icon" aria-label={t("open.close")} title={t("open.close")} onClick={() => dispatch({ type: "closed" })}>
          <X aria-hidden="true" className="size-4" />
        </Button>
        <RunButton {...button} className="max-md:hidden" />
      </PageHeader>
      <div className={cn("flex-1", isOver && "bg-accent-soft")}>
        <div className="mx-auto grid w-full max-w-[1180px] items-start gap-3.5 px-4 py-4 md:px-5 lg:grid-cols-[minmax(0,1fr)_280px]">
          <div className="flex min-w-0 flex-col gap-3.5">
            {canRun ? null : (
              <p id={whyNot} className="text-ink-2">
                {t("run.notYours")}
              </p>
            )}
            {note}
            {state.trouble ? (
              <TroubleNote
                trouble={state.trouble}
                placed={placed}
                missingClass={missingClassOf(state.errors)}
                unknown={unknown}
                onAnyway={() => press(true)}
              />
            ) : null}
            <NewestReceipt receipt={state.trouble || state.isSending ? undefined : newest} fallbackName={t("pasted")} />
            {isMissing === "no" ? null : <p className="text-ink-3">{t(isMissing === "absent" ? "open.guessed" : "open.guessedNow")}</p>}
            {isDrawn ? <RunGraph opened={opened} name={name} placed={placed} /> : null}
            <PinnedCard form={form} placed={placed} picture={picture} settings={settings} onEdit={onEdit} onRunning={onRunning} />
            {form.map((node) => (
              <NodeCard
                key={`${serial}/${node.id}`}
                node={node}
                problems={own(placed.byNode, node.id)}
                picture={picture}
                settings={settings}
                onEdit={onEdit}
                onRunning={onRunning}
              />
            ))}
            <AdvancedCard
              outputs={outputs}
              advanced={advanced}
              onChange={(next) => dispatch({ type: "advanced", serial, advanced: next })}
            />
          </div>
          <div className="flex flex-col gap-3.5 lg:sticky lg:top-[68px]">
            {state.before ? (
              <Button onClick={() => dispatch({ type: "went-back" })}>{t("open.back", { name: state.before.name || t("pasted") })}</Button>
            ) : null}
            {earlier.length > 0 || (newest && state.trouble) ? (
              <Card title={t("answer.earlier")} bodyClassName="py-2">
                <EarlierReceipts receipts={state.trouble ? state.receipts : earlier} fallbackName={t("pasted")} />
              </Card>
            ) : null}
            <Card title={t("open.outline")} className="max-lg:hidden" bodyClassName="max-h-[60vh] overflow-y-auto p-1.5">
              <NodeOutline form={form} placed={placed} />
            </Card>
          </div>
        </div>
      </div>
      <div className="sticky bottom-[calc(49px+env(safe-area-inset-bottom))] z-20 border-t border-line bg-bg px-4 py-2 md:hidden">
        <RunButton {...button} className="w-full" />
      </div>
    </>
  );
}

function missingClassOf(errors: OpenRunProps["run"]["state"]["errors"]): string | undefined {
  const entries = Object.values(errors);
  const isAboutClasses = entries.length > 0 && entries.every((entry) => entry.errors.every(({ type }) => type === "missing_node_type"));
  return isAboutClasses ? entries[0]?.class_type : undefined;
}
