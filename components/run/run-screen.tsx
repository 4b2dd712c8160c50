"use client";

import { useTranslations } from "next-intl";
import { lazy, Suspense, useMemo } from "react";
import { useConnection } from "@/components/frame/connection/connection-context";
import { PageHeader } from "@/components/frame/page-header";
import { showToast } from "@/components/ui/toast-store";
import { EmptyRun, type OpenActions, OpeningRun } from "./empty-run";
import { createRunApi, type Run, type RunApi, useRun } from "./run-actions";
import { RestorePreviousButton, RunJob, RunNotes, ViewerNote } from "./run-notes";
import { type RunStore, tabRun } from "./run-store";
import { useRunPage } from "./use-run-page";
import { FormatDialog, RefusalNote } from "./workflow/opening-notes";
import { PendingImagesNote, type PlacedPicture } from "./workflow/pending-images-note";
import { RecentWorkflows, StoredFiles } from "./workflow/stored-workflows";

/** Loaded with the first file, since the empty page does not need it. */
const OpenRun = lazy(() => import("./open-run").then(({ OpenRun }) => ({ default: OpenRun })));

/** For the outcome of a run whose workflow was lost on reload. */
const noPlacedProblems = { byNode: {}, unplaced: [], nodeCount: 0 };

type RunScreenProps = {
  canRun: boolean;
  memberId: string;
  source?: Parameters<Run["openRunSource"]>[0];
  store?: RunStore;
  api?: RunApi;
};

export function RunScreen({ canRun, memberId, source, store = tabRun, api: providedApi }: RunScreenProps) {
  const t = useTranslations("run");
  const connection = useConnection();
  const id = connection?.id;
  const sampleTitle = useTranslations("frame.samples");
  const api = useMemo(() => ({ ...(providedApi ?? createRunApi(connection)), sampleTitle }), [providedApi, connection, sampleTitle]);
  const run = useRun(store, api, memberId, id);
  const openFiles = (files: readonly File[]) =>
    void run.openFiles(files, canRun).then((placedPicture) => {
      if (placedPicture) showToast({ tone: "ok", text: t("pendingImages.inSample", { name: placedPicture.picture.name }) });
    });
  const isDragOver = useRunPage({ run, store, memberId, connection: id, source, canRun, onFiles: openFiles });
  const { refusal, openWorkflow, pendingImages, ambiguousFile } = run.state;
  const formatDialog = (
    <FormatDialog
      file={ambiguousFile}
      api={api}
      onChoose={(format) => ambiguousFile && void run.openFormat(ambiguousFile, format)}
      onClose={() => ambiguousFile && run.requestFormat(undefined)}
    />
  );
  const refusalNote = refusal ? (
    <RefusalNote refusal={refusal} hasOpenWorkflow={openWorkflow !== undefined} onDismiss={run.dismissRefusal} />
  ) : null;

  function reportPlacedPicture(placedPicture: PlacedPicture | undefined) {
    if (!placedPicture) return;
    const { picture, input } = placedPicture;
    showToast({
      tone: "ok",
      text: t("pendingImages.placed", { name: picture.name, input: input.name, id: input.nodeId, title: input.title }),
    });
  }

  const openActions: OpenActions = {
    connectionName: connection?.name,
    isDragOver,
    onFiles: openFiles,
    onText: run.openText,
    onSample: async (name) => reportPlacedPicture(await run.openSample(name)),
    onRunSample: canRun ? run.runSample : undefined,
    storedWorkflows: <StoredFiles connection={id} listStored={api.listStored} onOpen={(file) => void run.openRunSource({ file })} />,
  };
  if (run.state.incoming?.isVisible) {
    return <OpeningRun picture={run.state.incoming.picture} onStop={run.cancelOpening} />;
  }
  if (openWorkflow) {
    return (
      <Suspense fallback={<OpeningRun />}>
        <OpenRun run={run} openWorkflow={openWorkflow} api={api} context={{ id, canRun }} openActions={openActions} note={refusalNote} />
        {formatDialog}
      </Suspense>
    );
  }
  return (
    <>
      <PageHeader title={t("title")} />
      {canRun ? null : <ViewerNote />}
      <EmptyRun
        {...openActions}
        note={
          <>
            {refusalNote}
            {pendingImages ? (
              <PendingImagesNote pendingImages={pendingImages} connection={id} onDismiss={() => run.setPendingImages(undefined)} />
            ) : null}
            <RestorePreviousButton run={run} />
            <RunNotes run={run} canRun={canRun} placedProblems={noPlacedProblems} />
          </>
        }
        recent={
          pendingImages ? (
            <RecentWorkflows connection={id} api={api} onOpen={(file) => reportPlacedPicture(run.openForPictures(file))} />
          ) : undefined
        }
      />
      <RunJob run={run} />
      {formatDialog}
    </>
  );
}
