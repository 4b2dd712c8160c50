"use client";

import { useTranslations } from "next-intl";
import { lazy, Suspense, useMemo } from "react";
import { useConnection } from "@/components/frame/connection-context";
import { useFollowCounts } from "@/components/frame/counts-context";
import { PageHeader } from "@/components/frame/page-header";
import { type Arrival } from "./arrivals";
import { EmptyRun } from "./empty-run";
import { RefusalNote } from "./refusal-note";
import { RunSkeleton } from "./run-skeleton";
import { NewestReceipt } from "./receipts";
import { portsOf, type RunPorts } from "./run-ports";
import { type RunStore, tabRun } from "./run-store";
import { StoredFiles } from "./stored-files";
import { TroubleNote } from "./trouble-note";
import { useArrival } from "./use-arrival";
import { useArrivals } from "./use-arrivals";
import { unknownActs } from "./unknown-acts";
import { useDraft } from "./use-draft";
import { useNotedPress } from "./use-noted-press";
import { useRun } from "./use-run";

/** The form, its controls and its pictures come with the first file; the empty page goes without them. */
const OpenRun = lazy(() => import("./open-run").then(({ OpenRun }) => ({ default: OpenRun })));

/** A reload whose workflow could not be kept: what became of its run is told all the same. */
const placedNowhere = { byNode: {}, strays: [], nodeCount: 0 };

type RunScreenProps = { canRun: boolean; memberId: string; arrival?: Arrival; store?: RunStore; ports?: RunPorts };

export function RunScreen({ canRun, memberId, arrival, store = tabRun, ports: given }: RunScreenProps) {
  const t = useTranslations("run");
  const connection = useConnection();
  const id = connection?.id;
  const ports = useMemo(() => given ?? portsOf(id), [given, id]);
  const run = useRun(store, ports, { memberId, connection: id });
  useDraft(store, memberId);
  useArrival(arrival, (wanted) => void run.openArrival(wanted));
  useNotedPress(store, memberId, (press) => void run.askAfter(press));
  useFollowCounts(run.state.receipts[0]?.jobId ?? "");
  const isOver = useArrivals({ onFiles: (files) => void run.openFiles(files), onText: run.openText });
  const { refusal, opened, before, trouble, receipts } = run.state;
  const note = refusal ? (
    <RefusalNote refusal={refusal} keepsOpen={opened !== undefined} onRead={() => run.dispatch({ type: "refusal-read" })} />
  ) : null;

  if (run.state.isArriving) return <RunSkeleton />;
  if (opened) {
    return (
      <Suspense fallback={<RunSkeleton />}>
        <OpenRun canRun={canRun} run={run} opened={opened} ports={ports} connection={id} isOver={isOver} note={note} />
      </Suspense>
    );
  }
  return (
    <>
      <PageHeader title={t("title")} />
      <EmptyRun
        connectionName={connection?.name}
        isOver={isOver}
        note={
          <>
            {note}
            {trouble ? (
              <TroubleNote
                trouble={trouble}
                placed={placedNowhere}
                unknown={{ ...unknownActs(run, trouble), newestJobs: ports.newestJobs }}
              />
            ) : null}
            <NewestReceipt receipt={trouble || before ? undefined : receipts[0]} fallbackName={t("pasted")} />
          </>
        }
        onFiles={(files) => void run.openFiles(files)}
        onText={run.openText}
        onSample={run.openSample}
        stored={<StoredFiles connection={id} listStored={ports.listStored} onOpen={(file) => void run.openArrival({ file })} />}
      />
    </>
  );
}
