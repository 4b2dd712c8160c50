import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { SecretsNotice } from "@/components/jobs/actions/job-lines";
import { Button } from "@/components/ui/controls/button";
import { getOwn } from "@/lib/contract/json/json";
import { AdvancedCard } from "./form/advanced-card";
import { focusProblem } from "./form/form-model";
import { NodeCard, PinnedCard } from "./form/node-card";
import { type Run, type RunContext } from "./run-actions";
import { EarlierJobs, RunNotes } from "./run-notes";
import { type Sender } from "./use-open-run";
import { EditorNote } from "./workflow/editor-note";
import { GraphErrorsCard } from "./workflow/graph-errors-card";
import { FormatNote } from "./workflow/opening-notes";
import { listPictureInputs, PendingImagesNote } from "./workflow/pending-images-note";

type OpenFormProps = {
  run: Run;
  openWorkflow: NonNullable<Run["state"]["openWorkflow"]>;
  context: RunContext;
  sender: Sender;
  followedNode: string | undefined;
  note: ReactNode;
};

/** The open workflow as a form, with the page's notes above it. */
export function OpenForm({ run, openWorkflow, context, sender, followedNode, note }: OpenFormProps) {
  const t = useTranslations("run");
  const { pendingImages } = run.state;
  const { serial } = openWorkflow;
  const { form, outputs, faults, placedProblems, picture, settings, isMissing, onNamed, onEdit, onRunning } = sender.fields;
  const { missing: missingClasses, editorFile, reasonId, send } = sender;
  const isReadOnly = missingClasses.length > 0;
  // Pictures can be dropped on a disabled control, so sending is disabled too.
  const cardProps = isReadOnly
    ? { picture: { ...picture, canSend: false }, settings, onEdit: () => undefined, onRunning }
    : { picture, settings, onEdit, onRunning };
  return (
    <>
      {note}
      {openWorkflow.removedSecrets && !openWorkflow.sentGraph ? (
        <SecretsNotice places={openWorkflow.removedSecrets} wasSent={false} />
      ) : null}
      {openWorkflow.duplicates ? (
        <p className="text-wait">{t("duplicates", { count: openWorkflow.duplicates.length, ids: openWorkflow.duplicates.join(", ") })}</p>
      ) : null}
      {openWorkflow.rawTexts && editorFile ? <EditorNote {...editorFile.getReport()} /> : null}
      {openWorkflow.both?.shown ? (
        <FormatNote shownFormat={openWorkflow.both.shown} onOpen={(format) => void run.openFormat(openWorkflow, format)} />
      ) : null}
      {faults ? (
        <GraphErrorsCard
          id={context.canRun ? reasonId : undefined}
          graphErrors={faults}
          missingClasses={missingClasses}
          graph={openWorkflow.original}
          form={form}
          onSendAnyway={context.canRun ? () => send(true) : undefined}
        />
      ) : null}
      {pendingImages ? (
        <PendingImagesNote
          pendingImages={pendingImages}
          connection={context.id}
          inputs={listPictureInputs(form)}
          onUse={(input, { value, name }) => {
            onNamed(value, name);
            onEdit(input.nodeId, input.name, value);
            run.setPendingImages(undefined);
            focusProblem({ nodeId: input.nodeId, field: input.name });
          }}
          onCopies={({ nodeId, name }) => {
            for (const picture of pendingImages.pictures) onNamed(picture.value, picture.name);
            sender.requestCopies({ nodeId, name, values: pendingImages.pictures.map(({ value }) => value) });
          }}
          onChooseOther={run.close}
          onDismiss={() => run.setPendingImages(undefined)}
        />
      ) : null}
      <RunNotes run={run} canRun={context.canRun} placedProblems={placedProblems} onSendAnyway={() => send(true)} />
      {isMissing === "absent" ? <p className="text-ink-3">{t("open.guessed")}</p> : null}
      {isMissing === "failed" ? (
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1.5 text-ink-3">
          {t("open.guessedNow")}
          <Button size="small" onClick={sender.fields.readAgain}>
            {t("open.readAgain")}
          </Button>
        </p>
      ) : null}
      <fieldset disabled={isReadOnly} aria-label={isReadOnly ? t("missing.readOnly") : undefined} className="flex min-w-0 flex-col gap-3.5">
        <PinnedCard key={`${serial}/pinned`} form={form} placedProblems={placedProblems} {...cardProps} />
        {form.map((node) => (
          <NodeCard
            key={`${serial}/${node.id}`}
            node={node}
            problems={getOwn(placedProblems.byNode, node.id)}
            isFollowed={node.id === followedNode}
            {...cardProps}
          />
        ))}
      </fieldset>
      <AdvancedCard
        key={`${serial}/advanced`}
        outputs={outputs}
        advanced={openWorkflow.advanced ?? {}}
        onChange={(advanced) => run.setAdvanced(serial, advanced)}
      />
      <EarlierJobs run={run} />
    </>
  );
}
