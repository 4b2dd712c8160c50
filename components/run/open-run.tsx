import { useTranslations } from "next-intl";
import { type ReactNode, useCallback, useEffect, useEffectEvent, useId, useMemo, useState } from "react";
import { SecretsNotice } from "@/components/jobs/actions/secrets-notice";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { useMedia } from "@/components/ui/hooks/use-media";
import { own } from "@/lib/contract/json/own";
import { withTexts } from "@/lib/contract/nodes/fill-texts";
import { isSendingCopies } from "./copies/copies-acts";
import { type CopiesAsk, CopiesDialog } from "./copies/copies-dialog";
import { changesOf } from "./copies/copies-plan";
import { AdvancedCard, EXTRA_FIELD } from "./form/advanced-card";
import { checkGraph } from "./form/check";
import { readExtra } from "./form/extra-data";
import { focusProblem } from "./form/field-ids";
import { NodeCard } from "./form/node-card";
import { PinnedCard } from "./form/pinned-card";
import { SentTexts } from "./form/sent-texts";
import { useFollowedNode } from "./form/use-followed-node";
import { type RunPlace, useOpenForm } from "./form/use-open-form";
import { type WaysIn } from "./open-another";
import { RunGraph } from "./run-graph";
import { RunBar, RunHeader } from "./run-header";
import { RunJob, RunNotes, RunPast, ViewerNote } from "./run-notes";
import { type RunPorts } from "./run-ports";
import { RunSplit } from "./run-split";
import { useRunKey } from "./submit/run-button";
import { useNextSubmission } from "./submit/use-next-submission";
import { TabTitle } from "./tab-title";
import { type useRun } from "./use-run";
import { FaultsCard } from "./workflow/faults-card";
import { EditorNote } from "./workflow/format/editor-note";
import { FormatNote } from "./workflow/format/format-dialog";
import { missingClasses } from "./workflow/missing-classes";
import { type Advanced, type OpenWorkflow } from "./workflow/opened";
import { PendingImagesNote } from "./workflow/pending-images-note";
import { pictureInputs } from "./workflow/picture-inputs";
import { useEditorFile } from "./workflow/use-editor-file";

type OpenRunProps = {
  run: ReturnType<typeof useRun>;
  opened: OpenWorkflow;
  ports: RunPorts;
  place: RunPlace;
  ways: WaysIn;
  note: ReactNode;
};

const noneAdvanced: Advanced = {};

/** From this width on, the drawing and the form fit side by side. */
const ROOM_FOR_BOTH = "(min-width: 1280px)";

export function OpenRun({ run, opened, ports, place, ways, note }: OpenRunProps) {
  const t = useTranslations("run");
  const { state, dispatch } = run;
  const { canRun } = place;
  const { serial, graph, advanced = noneAdvanced } = opened;
  const { info, isMissing, readAgain, form, outputs, faults, placed, picture, settings, onNamed, onEdit, onRunning } = useOpenForm(
    run,
    opened,
    ports,
    place,
  );
  const missing = useMemo(() => missingClasses(opened.original, info, opened.extraData), [opened.original, opened.extraData, info]);
  const isReadOnly = missing.length > 0;
  const name = opened.name || t("pasted");
  const editorFile = useEditorFile(opened.extraData, info);
  const inFile = editorFile?.withValues;
  const whyNot = useId();
  const isWide = useMedia(ROOM_FOR_BOTH);
  // Shown from the start where both fit side by side; otherwise it replaces the form only when asked for.
  const [drawn, setDrawn] = useState({ wide: true, narrow: false });
  const isDrawn = isWide ? drawn.wide : drawn.narrow;
  const showForm = useCallback(() => setDrawn((now) => ({ ...now, narrow: false })), []);
  const followed = useFollowedNode(form, showForm);
  const [attended, setAttended] = useState(state.attention);
  if (attended !== state.attention) {
    setAttended(state.attention);
    showForm();
  }
  const [copiesAsk, setCopiesAsk] = useState<{ ask?: CopiesAsk }>();

  const next = useNextSubmission({ graph, form, info, isRandomised: settings.isRandomised, rawTexts: opened.rawTexts, inFile });

  const refusedBy = !canRun || faults ? whyNot : undefined;
  /** True where nothing forbids a run; otherwise the page shows the reason. */
  function isReady(isAnyway: boolean): boolean {
    if (!canRun || state.isSending || state.uploading.length > 0 || (faults && (faults.isSure || !isAnyway))) return false;
    if (advanced.targets?.length === 0 || !readExtra(advanced.extra ?? "").ok) {
      showForm();
      document.getElementById(EXTRA_FIELD)?.focus();
      return false;
    }
    const found = checkGraph(graph, info);
    if (found && (found.isSure || !isAnyway)) dispatch({ type: "checked", serial, found });
    return !found || (!found.isSure && isAnyway);
  }
  function send(isAnyway = false) {
    if (!isReady(isAnyway)) return;
    for (const seed of next.seedsOf()) onEdit(seed.nodeId, seed.name, seed.value);
    void run.run(name, (now) => withTexts(now, next.fill(now)), inFile);
    next.drawn(1);
  }
  const button = {
    isSending: state.isSending,
    uploading: state.uploading.length,
    ...(refusedBy !== undefined && { refusedBy }),
    onRun: () => send(),
  };
  const askCopies = (ask?: CopiesAsk) => {
    if (!isReady(false)) return;
    next.look();
    setCopiesAsk({ ...(ask && { ask }) });
  };
  useRunKey(button.onRun);
  const attend = useEffectEvent(() => {
    if (placed.first) focusProblem(placed.first);
  });
  useEffect(() => {
    if (state.attention > 0) attend();
  }, [state.attention]);

  // A picture can still be dropped on a disabled control, so sending is switched off as well.
  const row = isReadOnly
    ? { picture: { ...picture, canSend: false }, settings, onEdit: () => undefined, onRunning }
    : { picture, settings, onEdit, onRunning };
  return (
    <SentTexts value={next.texts}>
      <TabTitle name={name} />
      <RunHeader
        opened={opened}
        name={name}
        nodeCount={form.length}
        connection={place.id}
        isDrawn={isDrawn}
        canRun={canRun}
        button={button}
        info={info}
        inFile={inFile}
        onDrawn={() => setDrawn({ ...drawn, [isWide ? "wide" : "narrow"]: !isDrawn })}
        refusal={state.refusal}
        ways={ways}
        onStop={run.stopArriving}
        onSaved={(path) => dispatch({ type: "saved", serial, path, graph })}
        onClose={() => dispatch({ type: "closed" })}
        onCopies={() => askCopies()}
      />
      {canRun ? null : <ViewerNote id={whyNot} />}
      <RunSplit
        isWide={isWide}
        className={ways.isOver ? "bg-accent-soft" : undefined}
        foot={<RunJob run={run} catalogue={info} />}
        graph={
          isDrawn ? (
            <RunGraph opened={opened} name={name} catalogue={info} placed={placed} selected={followed.nodeId} onSelect={followed.select} />
          ) : undefined
        }
      >
        <div
          onFocus={followed.onFocus}
          className={cn("flex min-w-0 flex-col gap-3.5 px-4 py-4", isDrawn ? "xl:pr-5 xl:pl-0" : "mx-auto max-w-[900px] md:px-5")}
        >
          {note}
          {opened.leftOut && !opened.sent ? <SecretsNotice places={opened.leftOut} isSent={false} /> : null}
          {opened.duplicates ? (
            <p className="text-wait">{t("duplicates", { count: opened.duplicates.length, ids: opened.duplicates.join(", ") })}</p>
          ) : null}
          {opened.rawTexts && editorFile ? <EditorNote {...editorFile.report()} /> : null}
          {opened.both?.shown ? <FormatNote shown={opened.both.shown} onOpen={(format) => void run.openFormat(opened, format)} /> : null}
          {faults ? (
            <FaultsCard
              id={canRun ? whyNot : undefined}
              faults={faults}
              missing={missing}
              graph={opened.original}
              form={form}
              onAnyway={canRun ? () => send(true) : undefined}
            />
          ) : null}
          {state.pendingImages ? (
            <PendingImagesNote
              pendingImages={state.pendingImages}
              connection={place.id}
              inputs={pictureInputs(form)}
              onUse={(input, { value, name: ownName }) => {
                onNamed(value, ownName);
                onEdit(input.nodeId, input.name, value);
                dispatch({ type: "pending-images", pendingImages: undefined });
                focusProblem({ nodeId: input.nodeId, field: input.name });
              }}
              onCopies={({ nodeId, name: input }) => {
                for (const { value, name: ownName } of state.pendingImages?.pictures ?? []) onNamed(value, ownName);
                askCopies({ nodeId, name: input, values: state.pendingImages?.pictures.map(({ value }) => value) ?? [] });
              }}
              onElsewhere={() => dispatch({ type: "closed" })}
              onDismiss={() => dispatch({ type: "pending-images", pendingImages: undefined })}
            />
          ) : null}
          <RunNotes run={run} canRun={canRun} placed={placed} newestJobs={ports.newestJobs} onAnyway={() => send(true)} />
          {isMissing === "absent" ? <p className="text-ink-3">{t("open.guessed")}</p> : null}
          {isMissing === "failed" ? (
            <p className="flex flex-wrap items-center gap-x-3 gap-y-1.5 text-ink-3">
              {t("open.guessedNow")}
              <Button size="small" onClick={readAgain}>
                {t("open.readAgain")}
              </Button>
            </p>
          ) : null}
          <fieldset
            disabled={isReadOnly}
            aria-label={isReadOnly ? t("missing.readOnly") : undefined}
            className="flex min-w-0 flex-col gap-3.5"
          >
            <PinnedCard key={`${serial}/pinned`} form={form} placed={placed} {...row} />
            {form.map((node) => (
              <NodeCard
                key={`${serial}/${node.id}`}
                node={node}
                problems={own(placed.byNode, node.id)}
                isFollowed={node.id === followed.nodeId}
                {...row}
              />
            ))}
          </fieldset>
          <AdvancedCard
            key={`${serial}/advanced`}
            outputs={outputs}
            advanced={advanced}
            onChange={(next) => dispatch({ type: "advanced", serial, advanced: next })}
          />
          <RunPast run={run} />
        </div>
      </RunSplit>
      <RunBar canRun={canRun} button={button} onCopies={() => askCopies()} />
      <CopiesDialog
        isOpen={copiesAsk !== undefined}
        form={form}
        ask={copiesAsk?.ask}
        picture={picture}
        hasRandomised={settings.memory.randomised.length > 0}
        filledFor={(edit, copy) => changesOf(graph, edit, copy, next).texts}
        isBusy={isSendingCopies(state.copies)}
        onClose={() => setCopiesAsk(undefined)}
        onStart={({ nodeId, input, values }) => {
          setCopiesAsk(undefined);
          dispatch({ type: "pending-images", pendingImages: undefined });
          void run.copies.begin(opened, name, { nodeId, input, values, seedsOf: next.seedsOf, fill: next.fill, ...(inFile && { inFile }) });
          next.drawn(values.length);
        }}
      />
    </SentTexts>
  );
}
