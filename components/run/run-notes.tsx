"use client";

import { useTranslations } from "next-intl";
import { Button } from "@/components/ui/button";
import { CopiesCard } from "./copies/copies-card";
import { type PlacedProblems } from "./node-problems";
import { EarlierReceipts, NewestReceipt } from "./receipts";
import { type RunPorts } from "./run-ports";
import { TroubleNote } from "./trouble-note";
import { type RunState } from "./run-state";
import { unknownActs } from "./unknown-acts";
import { type useRun } from "./use-run";

type RunNotesProps = {
  run: ReturnType<typeof useRun>;
  canRun: boolean;
  placed: PlacedProblems;
  newestJobs: RunPorts["newestJobs"];
  onAnyway?: () => void;
};

/** What became of what was sent from this page: its trouble, its copies, its newest job. */
export function RunNotes({ run, canRun, placed, newestJobs, onAnyway }: RunNotesProps) {
  const t = useTranslations("run");
  const { trouble, receipts, isSending, copies, errors } = run.state;
  const unknown = { ...unknownActs(run, trouble), newestJobs, ...(onAnyway && { onSendAgain: onAnyway }) };
  return (
    <>
      {trouble ? (
        <TroubleNote trouble={trouble} placed={placed} missingClass={missingClassOf(errors)} unknown={unknown} onAnyway={onAnyway} />
      ) : null}
      {copies ? <CopiesCard key={copies.id} set={copies} fallbackName={t("pasted")} canRun={canRun} work={run.copies} /> : null}
      <NewestReceipt receipt={trouble || isSending ? undefined : receipts[0]} fallbackName={t("pasted")} />
    </>
  );
}

/** Below the form: the way back, and what was started before. */
export function RunPast({ run }: { run: ReturnType<typeof useRun> }) {
  const t = useTranslations("run");
  const { before, receipts, trouble } = run.state;
  const earlier = trouble ? receipts : receipts.slice(1);
  return (
    <>
      {before ? (
        <Button className="self-start" onClick={() => run.dispatch({ type: "went-back" })}>
          {t("open.back", { name: before.name || t("pasted") })}
        </Button>
      ) : null}
      {earlier.length > 0 ? (
        <section aria-label={t("answer.earlier")}>
          <h2 className="font-semibold">{t("answer.earlier")}</h2>
          <EarlierReceipts receipts={earlier} fallbackName={t("pasted")} />
        </section>
      ) : null}
    </>
  );
}

function missingClassOf(errors: RunState["errors"]): string | undefined {
  const entries = Object.values(errors);
  const isAboutClasses = entries.length > 0 && entries.every((entry) => entry.errors.every(({ type }) => type === "missing_node_type"));
  return isAboutClasses ? entries[0]?.class_type : undefined;
}
