"use client";

import { useTranslations } from "next-intl";
import { lazy, Suspense, useMemo } from "react";
import { useConnection } from "@/components/frame/connection/connection-context";
import { PageHeader } from "@/components/frame/page-header";
import { showToast } from "@/components/ui/toast-store";
import { EmptyRun, OpeningRun, type WaysIn } from "./empty-run";
import { createRunApi, type Run, type RunApi, useRun } from "./run-actions";
import { RunJob, RunNotes, ViewerNote, WayBack } from "./run-notes";
import { type RunStore, tabRun } from "./run-store";
import { useRunPage } from "./use-run-page";
import { FormatDialog, RefusalNote } from "./workflow/opening-notes";
import { PendingImagesNote, type Placed } from "./workflow/pending-images-note";
import { RecentWorkflows, StoredFiles } from "./workflow/stored-workflows";

/** Form, controls and pictures load with the first file; the empty page does not need them. */
const OpenRun = lazy(() => import("./open-run").then(({ OpenRun }) => ({ default: OpenRun })));

/** Used after a reload whose workflow could not be kept: the outcome of its run is still shown. */
const placedNowhere = { byNode: {}, strays: [], nodeCount: 0 };

type RunScreenProps = {
  canRun: boolean;
  memberId: string;
  arrival?: Parameters<Run["openArrival"]>[0];
  store?: RunStore;
  api?: RunApi;
};

export function RunScreen({ canRun, memberId, arrival, store = tabRun, api: given }: RunScreenProps) {
  const t = useTranslations("run");
  const connection = useConnection();
  const id = connection?.id;
  const sampleTitle = useTranslations("frame.samples");
  const api = useMemo(() => ({ ...(given ?? createRunApi(connection)), sampleTitle }), [given, connection, sampleTitle]);
  const run = useRun(store, api, memberId, id);
  const openFiles = (files: readonly File[]) =>
    void run.openFiles(files, canRun).then((placed) => {
      if (placed) showToast({ tone: "ok", text: t("pendingImages.inSample", { name: placed.picture.name }) });
    });
  const isOver = useRunPage({ run, store, memberId, connection: id, arrival, canRun, onFiles: openFiles });
  const { refusal, opened, pendingImages, asked } = run.state;
  const question = (
    <FormatDialog
      file={asked}
      api={api}
      onChoose={(format) => asked && void run.openFormat(asked, format)}
      onClose={() => asked && run.askFormat(undefined)}
    />
  );
  const note = refusal ? <RefusalNote refusal={refusal} keepsOpen={opened !== undefined} onRead={run.dismissRefusal} /> : null;

  function reportPlaced(placed: Placed | undefined) {
    if (!placed) return;
    const { picture, input } = placed;
    showToast({
      tone: "ok",
      text: t("pendingImages.placed", { name: picture.name, input: input.name, id: input.nodeId, title: input.title }),
    });
  }

  const ways: WaysIn = {
    connectionName: connection?.name,
    isOver,
    onFiles: openFiles,
    onText: run.openText,
    onSample: async (name) => reportPlaced(await run.openSample(name)),
    onRunSample: canRun ? run.runSample : undefined,
    stored: <StoredFiles connection={id} listStored={api.listStored} onOpen={(file) => void run.openArrival({ file })} />,
  };
  if (run.state.arriving?.isSeen) {
    return <OpeningRun picture={run.state.arriving.picture} onStop={run.stopArriving} />;
  }
  if (opened) {
    return (
      <Suspense fallback={<OpeningRun />}>
        <OpenRun run={run} opened={opened} api={api} place={{ id, canRun }} ways={ways} note={note} />
        {question}
      </Suspense>
    );
  }
  return (
    <>
      <PageHeader title={t("title")} />
      {canRun ? null : <ViewerNote />}
      <EmptyRun
        {...ways}
        note={
          <>
            {note}
            {pendingImages ? (
              <PendingImagesNote pendingImages={pendingImages} connection={id} onDismiss={() => run.setPendingImages(undefined)} />
            ) : null}
            <WayBack run={run} />
            <RunNotes run={run} canRun={canRun} placed={placedNowhere} newestJobs={api.newestJobs} />
          </>
        }
        recent={
          pendingImages ? <RecentWorkflows connection={id} api={api} onOpen={(file) => reportPlaced(run.openFor(file))} /> : undefined
        }
      />
      <RunJob run={run} />
      {question}
    </>
  );
}
