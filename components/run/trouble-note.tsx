"use client";

import Link from "next/link";
import { useTranslations } from "next-intl";
import { FailureMessage } from "@/components/frame/failure-message";
import { toSaidCode, whoseFault } from "@/components/frame/whose";
import { buttonStyle } from "@/components/ui/button";
import { FailureNotice } from "@/components/ui/failure-notice";
import { ProblemList } from "./problem-list";
import { type PlacedProblems } from "./node-problems";
import { type Trouble } from "./run-state";

type TroubleNoteProps = { trouble: Trouble; placed: PlacedProblems; missingClass?: string };

/** What became of a run that did not start: whose fault, what was kept, the one thing to do. Nothing here sends again. */
export function TroubleNote({ trouble, placed, missingClass }: TroubleNoteProps) {
  const t = useTranslations("run.answer");
  const { kind, failure } = trouble;
  if (kind === "unknown") {
    const whose = whoseFault[toSaidCode(failure.code)];
    return (
      <FailureNotice
        title={t("unknown")}
        whose={t("unknownWhose", { whose })}
        next={t("unknownNext")}
        detail={failure.message ? t("said", { message: failure.message }) : undefined}
        actions={
          <Link href="/jobs" className={buttonStyle()}>
            {t("lookInJobs")}
          </Link>
        }
      />
    );
  }
  if (kind === "invalid" && missingClass !== undefined) {
    return (
      <FailureNotice title={t("missingClass", { classType: missingClass })} whose={t("missingClassWhose")} next={t("missingClassNext")} />
    );
  }
  if (kind === "invalid") {
    const said = placed.nodeCount === 0 && failure.message ? t("said", { message: failure.message }) : undefined;
    return (
      <FailureNotice
        title={t("invalid", { count: placed.nodeCount })}
        whose={t("invalidWhose")}
        next={t("invalidNext")}
        detail={placed.strays.length > 0 ? <Strays placed={placed} /> : said}
      />
    );
  }
  if (failure.code === "prompt_no_outputs")
    return <FailureNotice title={t("noOutputs")} whose={t("invalidWhose")} next={t("noOutputsNext")} />;
  return (
    <div className="flex flex-col gap-1.5">
      <FailureMessage failure={failure} />
      <p className="px-1 text-ink-2">{t(failure.code === "UPSTREAM_UNREACHABLE" ? "keptUnsure" : "kept")}</p>
    </div>
  );
}

function Strays({ placed }: { placed: PlacedProblems }) {
  const t = useTranslations("run.answer");
  return placed.strays.map(({ nodeId, problems }) => (
    <div key={nodeId}>
      {t("stray", { id: nodeId })}
      <ProblemList problems={problems} />
    </div>
  ));
}
