import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { useConnectionParam } from "@/components/frame/connection/connection-context";
import { requestRun } from "@/components/frame/samples/samples";
import { hasUnsavedWork } from "@/components/ui/hooks/page-events";
import { useRouter } from "@/components/ui/link";
import { getSelectedTimeZone } from "@/components/ui/time";
import { showToast } from "@/components/ui/toast-store";
import { type DroppedFiles, type NamedFile } from "@/lib/browser/files/dropped-files";
import { withQuery } from "@/lib/browser/urls";
import { asObject } from "@/lib/contract/json/json";
import { readWorkflow, workflowLimits } from "@/lib/contract/workflow/read-workflow";
import { DEFAULT_DRAFT, getFieldsForFile, parseDraft, uploadPreferences } from "./asset-fields-form";
import { type UploadRequest } from "./upload-item";
import { type NewUpload } from "./upload-store";

/** `dropped` is undefined while folders are read. */
type IncomingUpload = { dropped?: DroppedFiles };

/**
 * Collects dropped, pasted or picked files until they are added. Discards files of a batch that was cancelled while it was read. A single
 * dropped workflow opens in Run instead, unless leaving the page would lose unsaved work.
 */
export function useIncomingFiles(requests: readonly UploadRequest[], onReady: (uploads: readonly NewUpload[]) => void) {
  const t = useTranslations("uploads.start");
  const [incomingUpload, setIncoming] = useState<IncomingUpload>();
  const [lastRequestId, setLastRequestId] = useState(0);
  const handledId = useRef(0);
  const cancelledId = useRef(0);
  const router = useRouter();
  const connectionParam = useConnectionParam();
  const newestId = requests.findLast(({ source }) => source === "files")?.id ?? 0;
  if (newestId > lastRequestId) {
    setLastRequestId(newestId);
    if (!incomingUpload) setIncoming({});
  }

  const closePendingDialog = () => setIncoming((current) => (current?.dropped ? current : undefined));
  function openInRun({ file }: NamedFile) {
    requestRun({ files: [file] });
    router.push(withQuery("/run", { connection: connectionParam }));
  }
  const handleDropped = useEffectEvent((dropped: DroppedFiles, problem: string | undefined) => {
    const workflows = dropped.files.filter(({ isWorkflow }) => isWorkflow);
    const workflow = workflows.length === 1 ? workflows[0] : undefined;
    const isAlone = dropped.files.length === 1;
    const shouldConfirm = workflow !== undefined && hasUnsavedWork();
    if (problem !== undefined) {
      closePendingDialog();
      const action = workflow && shouldConfirm && { label: t("open"), run: () => openInRun(workflow) };
      if (!workflow || !isAlone || shouldConfirm) showToast({ tone: "bad", text: problem, ...(action && { action }) });
      return workflow && !shouldConfirm ? openInRun(workflow) : undefined;
    }
    if (workflow && isAlone && !shouldConfirm && !incomingUpload?.dropped) {
      closePendingDialog();
      return openInRun(workflow);
    }
    const preferences = uploadPreferences.get();
    const fieldsResult = parseDraft({ ...DEFAULT_DRAFT, tags: preferences.tags });
    if (incomingUpload?.dropped || preferences.ask || !canAddDirectly(dropped) || !fieldsResult.ok)
      return setIncoming((current) => ({ dropped: current?.dropped ? mergeDropped(current.dropped, dropped) : dropped }));
    closePendingDialog();
    onReady(dropped.files.map(({ file, path }) => ({ file, assetFields: getFieldsForFile(fieldsResult.value, path, "none") })));
  });
  useEffect(() => {
    for (const request of requests) {
      if (request.source !== "files" || request.id <= handledId.current) continue;
      const { id, canOpenWorkflows = false, problem } = request;
      handledId.current = id;
      void request.dropped
        .then((dropped) => inspectFiles(dropped, canOpenWorkflows))
        .then((dropped) => {
          if (id > cancelledId.current) handleDropped(dropped, problem);
        });
    }
  }, [requests]);

  return {
    incomingUpload,
    clearIncoming: () => setIncoming(undefined),
    cancel() {
      cancelledId.current = handledId.current;
      setIncoming(undefined);
    },
    /** Keeps the other files for adding, including workflows, because only one can be open at a time. */
    openWorkflow(workflow: NamedFile) {
      const dropped = incomingUpload?.dropped;
      const files = dropped?.files.filter((file) => file !== workflow).map((file) => ({ ...file, isWorkflow: false })) ?? [];
      setIncoming(dropped && files.length > 0 ? { dropped: { ...dropped, files } } : undefined);
      openInRun(workflow);
    },
  };
}

/** Renames pasted images and finds workflows in JSON files. Files in folders are not read, since there may be thousands. */
async function inspectFiles(dropped: DroppedFiles, canOpenWorkflows: boolean): Promise<DroppedFiles> {
  const files: NamedFile[] = [];
  for (const { path, file, pastedAt } of dropped.files) {
    const namedFile = pastedAt ? renamePastedFile(file, pastedAt) : file;
    files.push({
      path: pastedAt ? namedFile.name : path,
      file: namedFile,
      isWorkflow: canOpenWorkflows && (await containsWorkflow(path, file)),
    });
  }
  return { ...dropped, files };
}

async function containsWorkflow(path: string, file: File): Promise<boolean> {
  if (!/^[^/]+\.json$/i.test(path) || file.size > workflowLimits.characters) return false;
  const result = readWorkflow(await file.text().catch(() => ""));
  if (result.ok) return true;
  const { failure } = result;
  if (failure.code !== "ui_format" || !Array.isArray(failure.file.nodes)) return false;
  // Graph files of other programs also have a list of nodes.
  return failure.file.nodes.some((node) => typeof asObject(node)?.type === "string");
}

/** Returns false if the user must first confirm exceeded limits, or empty or skipped files, or may open a workflow. */
function canAddDirectly({ files, unreadableCount, skippedCount, isTruncated }: DroppedFiles): boolean {
  return (
    files.length > 0 &&
    files.every(({ file, isWorkflow }) => file.size > 0 && !isWorkflow) &&
    unreadableCount + skippedCount === 0 &&
    !isTruncated
  );
}

function mergeDropped(earlierFiles: DroppedFiles, dropped: DroppedFiles): DroppedFiles {
  return {
    files: [...earlierFiles.files, ...dropped.files],
    unreadableCount: earlierFiles.unreadableCount + dropped.unreadableCount,
    skippedCount: earlierFiles.skippedCount + dropped.skippedCount,
    isTruncated: earlierFiles.isTruncated || dropped.isTruncated,
  };
}

const timestampFormat = {
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
} as const;

/** Adds the time to the name of a pasted image, since browsers always name it image.png. Copied files keep their names. */
export function renamePastedFile(file: File, pastedAt: Date): File {
  const match = /^image(\.\w+)$/i.exec(file.name);
  if (!match) return file;
  const format = new Intl.DateTimeFormat("en-GB", { ...timestampFormat, hourCycle: "h23", timeZone: getSelectedTimeZone() });
  const parts = new Map(format.formatToParts(pastedAt).map(({ type, value }) => [type, value]));
  const [day, time] = [
    [parts.get("year"), parts.get("month"), parts.get("day")],
    [parts.get("hour"), parts.get("minute"), parts.get("second")],
  ].map((values) => values.join("-"));
  return new File([file], `pasted ${day} ${time}${match[1]}`, { type: file.type, lastModified: pastedAt.getTime() });
}
