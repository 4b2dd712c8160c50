"use client";

import { useTranslations } from "next-intl";
import { lazy, Suspense, useEffect, useEffectEvent, useMemo, useRef } from "react";
import { useConnection } from "@/components/frame/connection/connection-context";
import { useFollowCounts } from "@/components/frame/counts-context";
import { PageHeader } from "@/components/frame/page-header";
import { takeRunRequest } from "@/components/frame/samples/run-request";
import { showToast } from "@/components/ui/toast-store";
import { EmptyRun } from "./empty-run";
import { SendingNote } from "./form/controls/sending-note";
import { type WaysIn } from "./open-another";
import { RunJob, RunNotes, ViewerNote, WayBack } from "./run-notes";
import { portsOf, type RunPorts } from "./run-ports";
import { RunSkeleton } from "./run-skeleton";
import { type RunStore, tabRun } from "./run-store";
import { useNotedAttempt } from "./submit/use-noted-attempt";
import { useRun } from "./use-run";
import { type Arrival } from "./workflow/arrivals/arrivals";
import { RecentWorkflows } from "./workflow/arrivals/recent-workflows-list";
import { StoredFiles } from "./workflow/arrivals/stored-files";
import { useArrival } from "./workflow/arrivals/use-arrival";
import { useArrivals } from "./workflow/arrivals/use-arrivals";
import { FormatDialog } from "./workflow/format/format-dialog";
import { PendingImagesNote } from "./workflow/pending-images-note";
import { type Placed } from "./workflow/picture-inputs";
import { RefusalNote } from "./workflow/refusal-note";
import { useDraft } from "./workflow/use-draft";
import { useRecall } from "./workflow/use-recall";

/** Form, controls and pictures load with the first file; the empty page does not need them. */
const OpenRun = lazy(() => import("./open-run").then(({ OpenRun }) => ({ default: OpenRun })));

/** Used after a reload whose workflow could not be kept: the outcome of its run is still shown. */
const placedNowhere = { byNode: {}, strays: [], nodeCount: 0 };

type RunScreenProps = { canRun: boolean; memberId: string; arrival?: Arrival; store?: RunStore; ports?: RunPorts };

export function RunScreen({ canRun, memberId, arrival, store = tabRun, ports: given }: RunScreenProps) {
  const t = useTranslations("run");
  const connection = useConnection();
  const id = connection?.id;
  const sampleTitle = useTranslations("frame.samples");
  const ports = useMemo(() => ({ ...(given ?? portsOf(connection)), sampleTitle }), [given, connection, sampleTitle]);
  const run = useRun(store, ports, { memberId, connection: id });
  const openFiles = (files: readonly File[]) =>
    void run.openFiles(files, canRun).then((placed) => {
      if (placed) showToast({ tone: "ok", text: t("pendingImages.inSample", { name: placed.picture.name }) });
    });
  useDraft(store, memberId);
  useArrival(arrival, (wanted) => void run.openArrival(wanted));
  const takeOver = useEffectEvent(() => {
    const request = takeRunRequest();
    if (!request) return;
    if ("files" in request) openFiles(request.files);
    else void (canRun ? run.runSample(request.sample) : run.openArrival(request));
  });
  useEffect(() => takeOver(), []);
  useNotedAttempt(store, memberId, (attempt) => void run.askAfter(attempt));
  useRecall(() => {
    run.recall();
    void run.copies.recall();
  });
  const { copies } = run.state;
  useFollowCounts(`${run.state.receipts[0]?.jobId ?? ""} ${copies?.id} ${copies?.ending?.kind}`);
  useTopOnOpening(run.state.opened?.serial);
  const isOver = useArrivals({ onFiles: openFiles, onText: run.openText });
  const { refusal, opened, pendingImages, asked } = run.state;
  const isReadElsewhere = opened?.readFor !== undefined && id !== undefined && opened.readFor !== id && !opened.isEdited;
  const readAnew = useEffectEvent(() => void run.readAnew());
  useEffect(() => {
    if (isReadElsewhere) readAnew();
  }, [isReadElsewhere, id]);
  const question = (
    <FormatDialog
      file={asked}
      ports={ports}
      onChoose={(format) => asked && void run.openFormat(asked, format)}
      onClose={() => asked && run.dispatch({ type: "asked", file: undefined })}
    />
  );
  const note = refusal ? (
    <RefusalNote refusal={refusal} keepsOpen={opened !== undefined} onRead={() => run.dispatch({ type: "refusal-read" })} />
  ) : null;

  function tellPlaced(placed: Placed | undefined) {
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
    onSample: async (name) => tellPlaced(await run.openSample(name)),
    onRunSample: canRun ? run.runSample : undefined,
    stored: <StoredFiles connection={id} listStored={ports.listStored} onOpen={(file) => void run.openArrival({ file })} />,
  };
  if (run.state.arriving?.isSeen) {
    const { picture } = run.state.arriving;
    return <RunSkeleton note={picture ? <SendingNote {...picture} onStop={run.stopArriving} /> : null} />;
  }
  if (opened) {
    return (
      <Suspense fallback={<RunSkeleton />}>
        <OpenRun run={run} opened={opened} ports={ports} place={{ id, canRun }} ways={ways} note={note} />
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
              <PendingImagesNote
                pendingImages={pendingImages}
                connection={id}
                onDismiss={() => run.dispatch({ type: "pending-images", pendingImages: undefined })}
              />
            ) : null}
            <WayBack run={run} />
            <RunNotes run={run} canRun={canRun} placed={placedNowhere} newestJobs={ports.newestJobs} />
          </>
        }
        recent={
          pendingImages ? <RecentWorkflows connection={id} ports={ports} onOpen={(file) => tellPlaced(run.openFor(file))} /> : undefined
        }
      />
      <RunJob run={run} />
      {question}
    </>
  );
}

/** Scrolls to the top when another workflow is opened. A workflow that was already open keeps its scroll position. */
function useTopOnOpening(serial: number | undefined): void {
  const seen = useRef(serial);
  useEffect(() => {
    if (seen.current === serial) return;
    seen.current = serial;
    if (serial !== undefined && document.scrollingElement) document.scrollingElement.scrollTop = 0;
  }, [serial]);
}
