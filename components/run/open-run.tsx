import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { cn } from "@/components/ui/cn";
import { CopiesDialog } from "./copies/copies-dialog";
import { isSendingCopies } from "./copies/copies-state";
import { getCopyChanges } from "./copies/send-copies";
import { type OpenActions } from "./empty-run";
import { SentTexts } from "./form/node-card";
import { useFollowedNode, useOpenForm } from "./form/use-open-form";
import { OpenForm } from "./open-form";
import { type Run, type RunApi, type RunContext } from "./run-actions";
import { RunBar, RunHeader } from "./run-header";
import { RunJob, shownSubmittedJob, ViewerNote } from "./run-notes";
import { RunGraph, RunSplit, TabTitle, useDrawing } from "./run-split";
import { useOpenRun } from "./use-open-run";

type OpenRunProps = {
  run: Run;
  openWorkflow: NonNullable<Run["state"]["openWorkflow"]>;
  api: RunApi;
  context: RunContext;
  openActions: OpenActions;
  note: ReactNode;
};

/** An open workflow: its graph next to its form, and the buttons that run it. */
export function OpenRun({ run, openWorkflow, api, context, openActions, note }: OpenRunProps) {
  const t = useTranslations("run");
  const { state } = run;
  const { canRun } = context;
  const { serial, graph } = openWorkflow;
  const name = openWorkflow.name || t("pasted");
  const fields = useOpenForm(run, openWorkflow, api, context);
  const { info, form, placedProblems, picture, settings } = fields;
  const { isWide, isDrawn, showForm, toggle } = useDrawing(state.attention);
  const followedNode = useFollowedNode(form, showForm);
  const sender = useOpenRun({ run, openWorkflow, fields, name, canRun, showForm });
  const { next, button, inFile, copiesAsk } = sender;
  const askCopies = () => sender.askCopies();
  return (
    <SentTexts value={next.texts}>
      <TabTitle name={name} />
      <RunHeader
        openWorkflow={openWorkflow}
        name={name}
        nodeCount={form.length}
        connection={context.id}
        isDrawn={isDrawn}
        canRun={canRun}
        button={button}
        info={info}
        inFile={inFile}
        onDrawn={toggle}
        refusal={state.refusal}
        openActions={openActions}
        onStop={run.stopArriving}
        onSaved={(path) => run.setStored(serial, path, graph)}
        onClose={run.close}
        onCopies={askCopies}
      />
      {canRun ? null : <ViewerNote id={sender.reasonId} />}
      <RunSplit
        isWide={isWide}
        className={openActions.isOver ? "bg-accent-soft" : undefined}
        foot={<RunJob run={run} catalogue={info} />}
        graph={
          isDrawn ? (
            <RunGraph
              openWorkflow={openWorkflow}
              name={name}
              catalogue={info}
              placedProblems={placedProblems}
              submittedJob={shownSubmittedJob(state, context.id)}
              connection={context.id}
              selected={followedNode.nodeId}
              onSelect={followedNode.select}
            />
          ) : undefined
        }
      >
        <div
          onFocus={followedNode.onFocus}
          className={cn("flex min-w-0 flex-col gap-3.5 px-4 py-4", isDrawn ? "xl:pr-5 xl:pl-0" : "mx-auto max-w-[900px] md:px-5")}
        >
          <OpenForm
            run={run}
            openWorkflow={openWorkflow}
            context={context}
            sender={sender}
            followedNode={followedNode.nodeId}
            note={note}
          />
        </div>
      </RunSplit>
      <RunBar canRun={canRun} button={button} onCopies={askCopies} />
      <CopiesDialog
        isOpen={copiesAsk !== undefined}
        form={form}
        request={copiesAsk?.request}
        picture={picture}
        hasRandomised={settings.memory.randomised.length > 0}
        getFilledTexts={(edit, copy) => getCopyChanges(graph, edit, copy, next).texts}
        isBusy={isSendingCopies(state.copies)}
        onClose={sender.closeCopies}
        onStart={({ nodeId, input, values }) => {
          sender.closeCopies();
          run.setPendingImages(undefined);
          void run.copies.begin(openWorkflow, name, {
            nodeId,
            input,
            values,
            getSeeds: next.getSeeds,
            fill: next.fill,
            ...(inFile && { inFile }),
          });
          next.drawn(values.length);
        }}
      />
    </SentTexts>
  );
}
