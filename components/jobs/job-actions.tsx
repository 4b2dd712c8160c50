"use client";

import Link from "next/link";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { FailureMessage } from "@/components/frame/failure-message";
import { Button, buttonStyle } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { ReceiptLine } from "@/components/ui/receipt-line";
import { withQuery } from "@/lib/browser/urls";
import { type JobFacts } from "./job-facts";
import { type useJobActs } from "./use-job-acts";

type JobActionsProps = {
  facts: JobFacts;
  /** `?connection=` of the page's own address, which its links keep. */
  linked: string | undefined;
  acts: ReturnType<typeof useJobActs>;
};

/** What the state of this job allows, and nothing else. */
export function JobActions({ facts: { job, workflowParts }, linked, acts }: JobActionsProps) {
  const t = useTranslations("jobs.job.acts");
  const { busy, held } = acts;
  const isEnding = held !== undefined || busy === "cancel" || busy === "stop";
  return (
    <span className="flex flex-wrap justify-end gap-2">
      {job.state === "pending" ? (
        <Button tone="danger" busy={isEnding} onClick={() => acts.end("cancel")}>
          {t("cancel")}
        </Button>
      ) : null}
      {job.state === "in_progress" ? (
        <Button tone="danger" busy={isEnding} onClick={() => acts.end("stop")}>
          {t("stop")}
        </Button>
      ) : null}
      {workflowParts && workflowParts.nodes > 0 ? (
        <>
          <Link href={editHref(job.id, linked)} prefetch={false} className={buttonStyle()}>
            {t("edit")}
          </Link>
          {workflowParts.seeds > 0 ? (
            <Button busy={busy === "again"} onClick={() => void acts.runAgain(true)}>
              {t("newSeeds")}
            </Button>
          ) : null}
          <Button tone={job.terminal ? "primary" : "plain"} busy={busy === "again"} onClick={() => void acts.runAgain(false)}>
            {t("again")}
          </Button>
        </>
      ) : null}
    </span>
  );
}

/** What is held, what became of the newest act, and what it needs before it can be done. */
export function JobActAnswer({ facts: { job }, linked, acts }: JobActionsProps) {
  const t = useTranslations("jobs.job.acts");
  const { held, receipt, failure, masked } = acts;
  return (
    <>
      {held ? (
        <ReceiptLine tone="wait" text={t(`held.${held}`)}>
          <Button size="small" onClick={acts.undo}>
            {t("undo")}
          </Button>
        </ReceiptLine>
      ) : null}
      {receipt ? (
        <ReceiptLine tone={receipt.tone} text={receipt.text} onDismiss={acts.dismiss}>
          {receipt.jobId ? (
            <Link
              href={withQuery(`/jobs/${encodeURIComponent(receipt.jobId)}`, { connection: linked })}
              className={buttonStyle({ size: "small" })}
            >
              {t("open", { id: receipt.jobId.slice(0, 8) })}
            </Link>
          ) : null}
          {receipt.together ? <StopTogether count={receipt.together} onStop={() => void acts.stopTogether()} /> : null}
        </ReceiptLine>
      ) : null}
      {failure ? <FailureMessage failure={failure} /> : null}
      <Dialog
        isOpen={masked !== undefined}
        onClose={acts.dismiss}
        title={t("maskedTitle", { count: masked?.length ?? 0 })}
        actions={
          <>
            <Button onClick={acts.dismiss}>{t("notNow")}</Button>
            <Link href={editHref(job.id, linked)} className={buttonStyle({ tone: "primary" })}>
              {t("edit")}
            </Link>
          </>
        }
      >
        <p>{t("maskedText")}</p>
        <ul className="mt-2 list-inside list-disc">
          {masked?.map(({ nodeId, node, input }) => (
            <li key={`${nodeId}/${input}`} className="break-words">
              {t("maskedInput", { node, id: nodeId, input })}
            </li>
          ))}
        </ul>
      </Dialog>
    </>
  );
}

function editHref(id: string, connection: string | undefined) {
  return withQuery("/run", { job: id, connection });
}

/** Asks first, by number, since the others stop too. */
function StopTogether({ count, onStop }: { count: number; onStop: () => void }) {
  const t = useTranslations("jobs.job.acts");
  const [isAsking, setAsking] = useState(false);
  function stop() {
    setAsking(false);
    onStop();
  }
  return (
    <>
      <Button size="small" onClick={() => setAsking(true)}>
        {t("stopAll", { count })}
      </Button>
      <Dialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={t("stopAll", { count })}
        actions={
          <>
            <Button onClick={() => setAsking(false)}>{t("keepRunning")}</Button>
            <Button tone="danger" onClick={stop}>
              {t("stopAll", { count })}
            </Button>
          </>
        }
      >
        <p>{t("stopAllText")}</p>
      </Dialog>
    </>
  );
}
