"use client";

import { useTranslations } from "next-intl";
import { type Meant, useBulkWork } from "@/components/data-table/use-bulk-work";
import { failureText } from "@/components/frame/failure-text";
import { showToast } from "@/components/ui/toast-store";
import { type Work } from "@/lib/browser/patient-call";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type Walked } from "@/lib/browser/walk-pages";
import { type Result } from "@/lib/shared/result";
import { cancelJobs, type KnownJob, removeJobs } from "./end-jobs";
import { causeOf, type ReceiptEntry } from "./receipt-entry";
import { useTold } from "./use-told";

export type JobAct = "cancel" | "remove" | "runAgain";

type Choices<Query> = {
  connection: string | undefined;
  onDone: (act: JobAct, entries: readonly ReceiptEntry[]) => void;
  /** In its place where the page is gone by then: for what outlives the page. */
  onLeft?: (entries: readonly ReceiptEntry[]) => void;
  /** Taken back while they were held. */
  onBack?: (jobs: readonly KnownJob[]) => void;
  runAgain?: (jobs: readonly KnownJob[], work: Work) => Promise<ReceiptEntry[]>;
  walk?: (query: Query, work: Work) => Promise<Result<Walked<KnownJob>, ApiFailure>>;
};

/** Cancelling, removing and running jobs again, from whatever page. */
export function useJobWork<Query = never>({ connection, onDone, onLeft, onBack, runAgain, walk }: Choices<Query>) {
  const t = useTranslations("acts");
  const errors = useTranslations("errors");
  const told = useTold();
  const carryOut = async ({ act, items }: Meant<JobAct, KnownJob>, work: Work) => {
    if (act === "runAgain") return (await runAgain?.(items, work)) ?? [];
    return act === "cancel" ? cancelJobs(items, work) : removeJobs(items, work);
  };
  const work = useBulkWork<JobAct, KnownJob, ReceiptEntry, Query>({
    connection,
    carryOut,
    walk,
    onDone,
    onBack: (act, items) => {
      if (act !== "runAgain") showToast({ tone: "off", text: t(`back.${act}`, { count: items.length }) });
      onBack?.(items);
    },
    onLeft: (entries) => {
      onLeft?.(entries);
      const { text, tone } = told(entries);
      const cause = causeOf(entries);
      showToast({ tone, text: cause ? `${text}: ${failureText(errors, cause)}` : text });
    },
  });
  const idsIn = (kind: "held" | "working") =>
    new Set(work.works.flatMap(({ phase }) => (phase.kind === kind ? phase.items.map(({ id }) => id) : [])));
  return { ...work, heldIds: idsIn("held"), busyIds: idsIn("working") };
}

export type JobWork = ReturnType<typeof useJobWork>;
