import { useTranslations } from "next-intl";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { FailureNotice } from "@/components/ui/empty-state";
import { NOT_WHOLE, type PlacedProblems, ProblemList } from "../form/problems";
import { type SubmitError } from "../run-store";
import { type UnknownActions, UnknownNote } from "./unknown-note";

type SubmitErrorNoteProps = {
  submitError: SubmitError;
  placedProblems: PlacedProblems;
  missingClass?: string;
  unknown: UnknownActions;
  /** Sends despite a suspected problem; the service decides. */
  onSendAnyway?: () => void;
};

/** Why a run didn't start, and the remedy. Sends nothing itself. */
export function SubmitErrorNote({ submitError, placedProblems, missingClass, unknown, onSendAnyway }: SubmitErrorNoteProps) {
  const t = useTranslations("run.answer");
  const common = useTranslations("common");
  const { kind, failure } = submitError;
  if (kind === "unknown") return <UnknownNote failure={failure} attempt={submitError.attempt} {...unknown} />;
  const dismiss = (
    <Button tone="quiet" onClick={unknown.onLeave}>
      {common("dismiss")}
    </Button>
  );
  if (kind === "lost") return <FailureNotice title={t("lost")} cause={t("lostCause")} next={t("lostNext")} actions={dismiss} />;
  const actions = (
    <>
      {/* Found by this page, before anything was sent. */}
      {failure.status === 0 && failure.code !== NOT_WHOLE && onSendAnyway ? <Button onClick={onSendAnyway}>{t("anyway")}</Button> : null}
      {dismiss}
    </>
  );
  if (failure.code === "masked_value") {
    return <FailureNotice title={t("masked")} cause={t("maskedCause")} next={t("maskedNext")} actions={dismiss} />;
  }
  if (kind === "invalid" && missingClass !== undefined) {
    return (
      <FailureNotice
        title={t("missingClass", { classType: missingClass })}
        cause={t("missingClassCause")}
        next={t("missingClassNext")}
        actions={actions}
      />
    );
  }
  if (kind === "invalid") {
    const reason = placedProblems.nodeCount === 0 && failure.message ? t("reason", { message: failure.message }) : undefined;
    return (
      <FailureNotice
        title={t("invalid", { count: placedProblems.nodeCount })}
        cause={t("invalidCause")}
        next={t("invalidNext")}
        detail={placedProblems.unplaced.length > 0 ? <UnplacedProblems placedProblems={placedProblems} /> : reason}
        actions={actions}
      />
    );
  }
  if (failure.code === "prompt_no_outputs")
    return <FailureNotice title={t("noOutputs")} cause={t("invalidCause")} next={t("noOutputsNext")} actions={actions} />;
  return (
    <div className="flex flex-col gap-1.5">
      <FailureMessage failure={failure} onRetry={onSendAnyway} actions={dismiss} />
      <p className="px-1 text-ink-2">{t("kept")}</p>
    </div>
  );
}

function UnplacedProblems({ placedProblems }: { placedProblems: PlacedProblems }) {
  const t = useTranslations("run.answer");
  return placedProblems.unplaced.map(({ nodeId, problems }) => (
    <div key={nodeId}>
      {t("stray", { id: nodeId })}
      <ProblemList problems={problems} />
    </div>
  ));
}
