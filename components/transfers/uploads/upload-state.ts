// Counts and filters of the upload queue, and the state text of each file.

import { type useTranslations } from "next-intl";
import { formatFailure } from "@/components/frame/failure/failure-message";
import { type Tone } from "@/components/ui/status-badge";
import { isMissingOperation } from "@/lib/contract/failure";
import { formatBytes } from "@/lib/shared/text";
import { hasContentMismatch, hasFailedFieldsUpdate, isInProgress, isProblem, isUnfinished, type UploadItem } from "./upload-item";

export type UploadFilter = "all" | "unfinished" | "problems" | "noPictures" | "stored";

/** Whether the same content is already being sent to the same connection. */
export function isDuplicateInProgress(
  { key, connection, hash }: Pick<UploadItem, "key" | "connection" | "hash">,
  items: readonly UploadItem[],
): boolean {
  if (hash === undefined) return false;
  return items.some((other) => other.key !== key && other.hash === hash && other.connection === connection && isInProgress(other));
}

export type UploadCounts = Record<UploadFilter | "underWay" | "paused" | "deduplicated" | "share", number>;

/** Counts the files by state. `share` is weighted by bytes. */
export function countUploads(items: readonly UploadItem[]): UploadCounts {
  const counts = {
    all: items.length,
    unfinished: 0,
    problems: 0,
    stored: 0,
    noPictures: 0,
    underWay: 0,
    paused: 0,
    deduplicated: 0,
    share: 0,
  };
  let [bytes, doneBytes] = [0, 0];
  for (const item of items) {
    if (isUnfinished(item)) counts.unfinished += 1;
    if (isInProgress(item)) counts.underWay += 1;
    if (isProblem(item)) counts.problems += 1;
    if (item.status.kind === "done") counts.stored += 1;
    if (wasDeduplicated(item)) counts.deduplicated += 1;
    if (isUndecodable(item)) counts.noPictures += 1;
    if (item.status.kind === "paused") counts.paused += 1;
    // Gives empty files a weight too.
    const weight = item.file.size + 1;
    bytes += weight;
    doneBytes += weight * getShare(item);
  }
  return { ...counts, share: bytes === 0 ? 0 : doneBytes / bytes };
}

function getShare({ status }: UploadItem): number {
  if (status.kind === "done" || status.kind === "failed") return 1;
  return status.kind === "sending" ? status.share : status.kind === "checking" ? 1 : 0;
}

export function filterItems(items: readonly UploadItem[], filter: UploadFilter): readonly UploadItem[] {
  if (filter === "all") return items;
  const isStored = ({ status }: UploadItem) => status.kind === "done";
  const filters = { unfinished: isUnfinished, problems: isProblem, noPictures: isUndecodable, stored: isStored };
  return items.filter(filters[filter]);
}

/** Whether the service already had the content, so that no bytes were sent. */
function wasDeduplicated({ status, file }: Pick<UploadItem, "status" | "file">): boolean {
  return status.kind === "done" && status.sentBytes === 0 && file.size > 0;
}

function isUndecodable(item: UploadItem): boolean {
  return item.isUndecodable === true;
}

type StateTextContext = {
  t: ReturnType<typeof useTranslations<"uploads">>;
  errors: ReturnType<typeof useTranslations<"errors">>;
  locale: string;
};

export function getTone(item: UploadItem): Tone {
  const { kind } = item.status;
  if (kind === "failed" || hasContentMismatch(item)) return "bad";
  if (kind === "done" && (item.isUndecodable || hasFailedFieldsUpdate(item))) return "unknown";
  if (kind === "done") return "ok";
  if (kind === "paused") return "off";
  return kind === "waiting" || kind === "holding" ? "wait" : "run";
}

/** A file's state and the reason for it, in one line. */
export function getStateText(item: UploadItem, { t, errors, locale }: StateTextContext): string {
  const { status, skipHashReason } = item;
  switch (status.kind) {
    case "waiting":
      return t(status.isDuplicate ? "state.behind" : "state.waiting");
    case "asking":
    case "holding":
      return t(`state.${status.kind}`);
    case "hashing":
    case "checking":
      return t(`state.${status.kind}`, { share: status.share });
    case "sending":
      return joinText([t("state.sending", { share: status.share }), skipHashReason && t(`whole.${skipHashReason}`)]);
    case "paused":
      return t(status.hasLostProgress ? "state.pausedLost" : "state.paused");
    case "failed":
      return `${t("state.failed")}: ${formatFailure(errors, status.failure)}`;
    case "done":
      return joinText([
        // A mismatch is listed first.
        hasContentMismatch(item) ? getCheckText(item, t) : undefined,
        hasFailedFieldsUpdate(item) ? getFieldsUpdateText(item, { t, errors, locale }) : undefined,
        item.isUndecodable ? t("state.noPicture") : undefined,
        getDoneText(item, { t, errors, locale }),
        hasContentMismatch(item) ? undefined : getCheckText(item, t),
        hasFailedFieldsUpdate(item) ? undefined : getFieldsUpdateText(item, { t, errors, locale }),
      ]);
  }
}

function getDoneText({ status, file, assetFields }: UploadItem, { t, locale }: StateTextContext): string | undefined {
  if (status.kind !== "done") return undefined;
  if (!wasDeduplicated({ status, file })) return t("state.sent", { size: formatBytes(status.sentBytes, locale) });
  const differentName = getDifferentName({ status, file, assetFields });
  return differentName === undefined ? t("state.deduplicated") : t("state.deduplicatedAs", { name: differentName });
}

/** Returns the asset's name if it differs from the file's. Existing content keeps its name. */
export function getDifferentName({ status, file, assetFields }: Pick<UploadItem, "status" | "file" | "assetFields">): string | undefined {
  const name = status.kind === "done" ? status.asset.name : undefined;
  return name === "" || name === (assetFields.name || file.name) ? undefined : name;
}

function getCheckText({ status }: UploadItem, t: StateTextContext["t"]): string | undefined {
  if (status.kind !== "done") return undefined;
  const { check } = status;
  if (check.kind === "differs") return t("state.differs", { theirs: check.serverHash });
  return check.kind === "verified" ? t("state.verified") : t(`unchecked.${check.why}`);
}

function getFieldsUpdateText({ fieldsUpdate }: UploadItem, { t, errors, locale }: StateTextContext): string | undefined {
  if (fieldsUpdate === undefined) return undefined;
  if (fieldsUpdate === "now") return t("changing.now");
  const parts = new Intl.ListFormat(locale, { type: "unit" }).format(fieldsUpdate.parts.map((part) => t(`changing.part.${part}`)));
  return t("changing.failed", {
    parts,
    reason: isChangeUnsupported({ fieldsUpdate }) ? t("changing.absent") : formatFailure(errors, fieldsUpdate.failure),
  });
}

/** Whether the service can't change stored assets. */
export function isChangeUnsupported({ fieldsUpdate }: Pick<UploadItem, "fieldsUpdate">): boolean {
  return fieldsUpdate !== undefined && fieldsUpdate !== "now" && isMissingOperation(fieldsUpdate.failure);
}

function joinText(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join(" · ");
}

/** Returns the progress of the current step from 0 to 1, or undefined if unknown. */
export function getStepShare({ status }: UploadItem): number | undefined {
  return status.kind === "hashing" || status.kind === "sending" || status.kind === "checking" ? status.share : undefined;
}
