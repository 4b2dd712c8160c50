"use client";

import { useTranslations } from "next-intl";
import { lazy, Suspense, useMemo } from "react";
import { useConnection } from "@/components/frame/connection-context";
import { useFollowCounts } from "@/components/frame/counts-context";
import { PageHeader } from "@/components/frame/page-header";
import { EmptyRun } from "./empty-run";
import { RefusalNote } from "./refusal-note";
import { RunSkeleton } from "./run-skeleton";
import { portsOf, type RunPorts } from "./run-ports";
import { type RunStore, tabRun } from "./run-store";
import { useArrivals } from "./use-arrivals";
import { useDraft } from "./use-draft";
import { useRun } from "./use-run";

/** The form, its controls and its pictures come with the first file; the empty page goes without them. */
const OpenRun = lazy(() => import("./open-run").then(({ OpenRun }) => ({ default: OpenRun })));

type RunScreenProps = { canRun: boolean; memberId: string; store?: RunStore; ports?: RunPorts };

export function RunScreen({ canRun, memberId, store = tabRun, ports: given }: RunScreenProps) {
  const t = useTranslations("run");
  const connection = useConnection();
  const id = connection?.id;
  const ports = useMemo(() => given ?? portsOf(id), [given, id]);
  const run = useRun(store, ports);
  useDraft(store, memberId);
  useFollowCounts(run.state.receipts[0]?.jobId ?? "");
  const isOver = useArrivals({ onFiles: (files) => void run.openFiles(files), onText: run.openText });
  const { refusal, opened } = run.state;
  const note = refusal ? (
    <RefusalNote refusal={refusal} keepsOpen={opened !== undefined} onRead={() => run.dispatch({ type: "refusal-read" })} />
  ) : null;

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
        note={note}
        onFiles={(files) => void run.openFiles(files)}
        onText={run.openText}
        onSample={run.openSample}
      />
    </>
  );
}
