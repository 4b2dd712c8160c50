import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { cn } from "@/components/ui/cn";
import { CopiesDialog } from "./copies/copies-dialog";
import { isSendingCopies } from "./copies/copies-state";
import { getCopyChanges } from "./copies/send-copies";
import { type OpenActions } from "./empty-run";
import { SentTextsContext } from "./form/node-card";
import { useFollowedNode, useOpenForm } from "./form/use-open-form";
import { OpenForm } from "./open-form";
import { type Run, type RunApi, type RunContext } from "./run-actions";
import { RunBar, RunHeader } from "./run-header";
import { findShownJob, RunJob, ViewerNote } from "./run-notes";
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
  const { isWide, isDrawn, showForm, toggle } = useDrawing(state.focusSerial);
  const followedNode = useFollowedNode(form, showForm);
  const sender = useOpenRun({ run, openWorkflow, fields, name, canRun, showForm });
  const { next, button, inFile, copiesRequest } = sender;
  const requestCopies = () => sender.requestCopies();
  return (
    <SentTextsContext value={next.texts}>
      <TabTitle name={name} />
      <RunHeader
        openWorkflow={openWorkflow}
        name={name}
        nodeCount={form.length}
        connection={context.id}
        isGraphShown={isDrawn}
        canRun={canRun}
        runButton={button}
        info={info}
        writeEditorFile={inFile}
        onToggleGraph={toggle}
        refusal={state.refusal}
        openActions={openActions}
        onStop={run.cancelOpening}
        onSaved={(path) => run.markStored(serial, path, graph)}
        onClose={run.close}
        onCopies={requestCopies}
      />
      {canRun ? null : <ViewerNote id={sender.reasonId} />}
      <RunSplit
        isWide={isWide}
        className={openActions.isDragOver ? "bg-accent-soft" : undefined}
        footer={<RunJob run={run} catalogue={info} />}
        graph={
          isDrawn ? (
            <RunGraph
              // Resets the open subgraph when the workflow changes.
              key={serial}
              openWorkflow={openWorkflow}
              name={name}
              catalogue={info}
              placedProblems={placedProblems}
              submittedJob={findShownJob(state, context.id)}
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
      <RunBar canRun={canRun} runButton={button} onCopies={requestCopies} />
      <CopiesDialog
        isOpen={copiesRequest !== undefined}
        form={form}
        request={copiesRequest?.request}
        picture={picture}
        hasRandomSeeds={settings.memory.randomised.length > 0}
        getFilledTexts={(edit, copy) => getCopyChanges(graph, edit, copy, next).texts}
        isBusy={isSendingCopies(state.copies)}
        onClose={sender.closeCopies}
        onStart={({ nodeId, input, values }) => {
          sender.closeCopies();
          run.setPendingImages(undefined);
          void run.copies.start(openWorkflow, name, {
            nodeId,
            input,
            values,
            getSeeds: next.getSeeds,
            fill: next.fill,
            ...(inFile && { writeEditorFile: inFile }),
          });
          next.advanceDraw(values.length);
        }}
      />
    </SentTextsContext>
  );
}
