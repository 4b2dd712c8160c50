import { useTranslations } from "next-intl";
import { useEffect, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { Dialog } from "@/components/ui/dialog";
import { FailureNotice } from "@/components/ui/empty-state";
import { isMissingOperation } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { getOwn } from "@/lib/contract/json/json";
import { truncateText } from "@/lib/contract/plain-line";
import { getNodeName } from "@/lib/contract/workflow/graph";
import { ok, type Result } from "@/lib/shared/result";
import { type CatalogueApi } from "./catalogue";
import { openBothAsDrawing } from "./open-workflow";
import { type Format, type OpenedFile, type Refusal, type RefusalReason } from "./opened-workflow";

/** Explains why a file was not opened, and the remedy. */
export function RefusalNote({
  refusal,
  hasOpenWorkflow,
  onDismiss,
}: {
  refusal: Refusal;
  hasOpenWorkflow: boolean;
  onDismiss: () => void;
}) {
  const t = useTranslations("run.refusal");
  const common = useTranslations("common");
  const reasonText = useReasonText(refusal.reason);
  const { fileName, reason } = refusal;
  if (reason.code === "unread")
    return <FailureMessage failure={reason.failure} actions={<Button onClick={onDismiss}>{common("dismiss")}</Button>} />;
  if (reason.code === "no_pictures") {
    return (
      <FailureNotice
        title={t("noPictures")}
        cause={t("assetsCause")}
        remedy={reasonText}
        actions={<Button onClick={onDismiss}>{common("dismiss")}</Button>}
      />
    );
  }
  const hasSeveralFiles = reason.code === "several_files";
  return (
    <FailureNotice
      title={
        hasSeveralFiles ? t("several", { count: reason.count }) : fileName === undefined ? t("pasted") : t("named", { name: fileName })
      }
      cause={t(hasSeveralFiles ? "severalCause" : reason.code.startsWith("job_") ? "jobCause" : "fileCause")}
      remedy={hasOpenWorkflow ? `${reasonText} ${t("kept")}` : reasonText}
      actions={<Button onClick={onDismiss}>{common("dismiss")}</Button>}
    />
  );
}

function useReasonText(reason: RefusalReason): string {
  const t = useTranslations("run.refusal");
  switch (reason.code) {
    case "not_json":
      return t("not_json", { line: reason.line, column: reason.column });
    case "no_graph":
      return t("no_graph", { found: reason.found });
    case "no_catalogue":
      return t(isMissingOperation(reason.failure) ? "noCatalogue" : "catalogueUnread");
    case "too_large":
      return t("too_large", { found: reason.found, limit: reason.limit, max: reason.max });
    case "too_many_numbers":
      return t("too_many_numbers", { max: reason.max });
    case "node_without_class":
      return t("node_without_class", { nodeId: reason.nodeId });
    case "node_with_bad_inputs":
      return t("node_with_bad_inputs", { nodeId: reason.nodeId });
    case "no_pictures":
      return t(reason.isMissing ? "assetsGone" : "assetsNoPictures");
    case "unread":
      return "";
    case "ui_format":
    case "empty":
    case "no_nodes":
    case "nothing_runs":
    case "several_files":
    case "job_gone":
    case "job_without_workflow":
    case "file_gone":
    case "picture":
    case "media":
    case "damaged":
    case "too_much":
    case "unreadable_file":
    case "sample_missing":
      return t(reason.code);
  }
}

const MAX_SHOWN_DIFFERENCES = 4;
const MAX_VALUE_LENGTH = 40;
const formats = ["run", "drawing"] as const;

type FormatDialogProps = { file: OpenedFile | undefined; api: CatalogueApi; onChoose: (format: Format) => void; onClose: () => void };

/** Asks which format to open, if a file has both the submitted graph and the editor's drawing. Closing opens nothing. */
export function FormatDialog({ file, api, onChoose, onClose }: FormatDialogProps) {
  const t = useTranslations("run.formats");
  const common = useTranslations("common");
  return (
    <Dialog
      isOpen={file !== undefined}
      onClose={onClose}
      title={t("title", { name: file?.both?.fileName ?? file?.name ?? t("nameless") })}
      className="w-[min(560px,calc(100vw-32px))]"
      actions={<Button onClick={onClose}>{common("cancel")}</Button>}
    >
      <p>{t("text")}</p>
      <div className="mt-3 flex flex-col gap-2">
        {formats.map((format) => (
          <button
            key={format}
            type="button"
            onClick={() => onChoose(format)}
            className="rounded-md border border-control bg-surface px-3.5 py-2.5 text-left hover:bg-surface-2"
          >
            <span className="block font-medium text-ink">{t(`${format}.name`)}</span>
            <span className="block text-ink-2">{t(`${format}.text`)}</span>
          </button>
        ))}
      </div>
      {file ? <Differences key={file.workflowId} file={file} api={api} /> : null}
    </Dialog>
  );
}

type FormatDifferences = {
  values: { nodeId: string; title: string; input: string; run: string; drawing: string }[];
  onlyRun: number;
  onlyDrawing: number;
};

/** Shown once the service's node list has loaded. Choosing a format doesn't wait for it. */
function Differences({ file, api }: { file: OpenedFile; api: CatalogueApi }) {
  const t = useTranslations("run.formats");
  const [result, setResult] = useState<Result<FormatDifferences, Refusal>>();
  useEffect(() => {
    let isCurrent = true;
    if (file.both)
      void openBothAsDrawing(file.both, api).then((drawingResult) => {
        if (isCurrent) setResult(drawingResult.ok ? ok(findDifferences(file.graph, drawingResult.value.graph)) : drawingResult);
      });
    return () => void (isCurrent = false);
  }, [file, api]);
  if (!result) return null;
  if (!result.ok) return <RefusalReasonText reason={result.failure.reason} />;
  const { values, onlyRun, onlyDrawing } = result.value;
  if (values.length + onlyRun + onlyDrawing === 0) return <p className="mt-3">{t("same")}</p>;
  return (
    <section aria-label={t("differences")} className="mt-3">
      <p className="font-medium text-ink">{t("differences")}</p>
      <ul className="mt-1 flex list-disc flex-col gap-0.5 pl-4 break-words">
        {values.slice(0, MAX_SHOWN_DIFFERENCES).map(({ nodeId, title, input, run, drawing }) => (
          <li key={`${nodeId} ${input}`}>{t("value", { nodeId, title, input, run, drawing })}</li>
        ))}
        {values.length > MAX_SHOWN_DIFFERENCES ? <li>{t("more", { count: values.length - MAX_SHOWN_DIFFERENCES })}</li> : null}
        {onlyRun > 0 ? <li>{t("onlyRun", { count: onlyRun })}</li> : null}
        {onlyDrawing > 0 ? <li>{t("onlyDrawing", { count: onlyDrawing })}</li> : null}
      </ul>
    </section>
  );
}

/** How the editor's drawing differs from the submitted graph. */
function findDifferences(runGraph: OpenedFile["graph"], drawingGraph: OpenedFile["graph"]): FormatDifferences {
  const isShared = (id: string) => getOwn(runGraph, id)?.class_type === getOwn(drawingGraph, id)?.class_type;
  const sharedIds = Object.keys(runGraph).filter(isShared);
  const values = sharedIds.flatMap((nodeId) => {
    const [runNode, drawingNode] = [getOwn(runGraph, nodeId), getOwn(drawingGraph, nodeId)];
    const names = new Set([...Object.keys(runNode?.inputs ?? {}), ...Object.keys(drawingNode?.inputs ?? {})]);
    return [...names].flatMap((input) => {
      const [runValue, drawingValue] = [
        formatValue(getOwn(runNode?.inputs ?? {}, input)),
        formatValue(getOwn(drawingNode?.inputs ?? {}, input)),
      ];
      return runValue === drawingValue
        ? []
        : [
            {
              nodeId,
              title: runNode ? getNodeName(runNode) : nodeId,
              input,
              run: truncateText(runValue, MAX_VALUE_LENGTH),
              drawing: truncateText(drawingValue, MAX_VALUE_LENGTH),
            },
          ];
    });
  });
  return {
    values,
    onlyRun: Object.keys(runGraph).length - sharedIds.length,
    onlyDrawing: Object.keys(drawingGraph).length - sharedIds.length,
  };
}

function formatValue(value: unknown): string {
  return value === undefined ? "–" : typeof value === "string" ? value : writeExactJson(value);
}

function RefusalReasonText({ reason }: { reason: RefusalReason }) {
  return <p className="mt-3">{useReasonText(reason)}</p>;
}

/** Shows which of the two formats is open, and a button that opens the other. */
export function FormatNote({ shownFormat, onOpen }: { shownFormat: Format; onOpen: (format: Format) => void }) {
  const t = useTranslations("run.formats");
  const otherFormat = shownFormat === "run" ? "drawing" : "run";
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1.5 text-ink-2">
      {t(`${shownFormat}.open`)}
      <Button size="small" onClick={() => onOpen(otherFormat)}>
        {t(`${otherFormat}.instead`)}
      </Button>
    </p>
  );
}
