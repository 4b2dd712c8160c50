// The upload queue: counts, filters and the text of each file.

import { type useTranslations } from "next-intl";
import { failureText } from "@/components/frame/failure/failure-message";
import { type Tone } from "@/components/ui/status-badge";
import { isMissingOperation } from "@/lib/contract/failure";
import { formatBytes } from "@/lib/shared/text";
import { isAlarm, isProblem, isUnderWay, isUnfinished, isUnwritten, type UploadItem } from "./upload-item";

export type UploadFilter = "all" | "unfinished" | "problems" | "noPictures" | "stored";

/** Whether the same content is already being sent to the same connection. */
export function isBehind(
  { key, connection, hash }: Pick<UploadItem, "key" | "connection" | "hash">,
  items: readonly UploadItem[],
): boolean {
  if (hash === undefined) return false;
  return items.some((other) => other.key !== key && other.hash === hash && other.connection === connection && isUnderWay(other));
}

export type Tally = Record<UploadFilter | "underWay" | "paused" | "deduplicated" | "share", number>;

/** Counts the files; the share is weighted by bytes. */
export function countUploads(items: readonly UploadItem[]): Tally {
  const tally = {
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
    if (isUnfinished(item)) tally.unfinished += 1;
    if (isUnderWay(item)) tally.underWay += 1;
    if (isProblem(item)) tally.problems += 1;
    if (item.status.kind === "done") tally.stored += 1;
    if (wasDeduplicated(item)) tally.deduplicated += 1;
    if (isNoPicture(item)) tally.noPictures += 1;
    if (item.status.kind === "paused") tally.paused += 1;
    // Even an empty file counts.
    const weight = item.file.size + 1;
    bytes += weight;
    doneBytes += weight * getShare(item);
  }
  return { ...tally, share: bytes === 0 ? 0 : doneBytes / bytes };
}

function getShare({ status }: UploadItem): number {
  if (status.kind === "done" || status.kind === "failed") return 1;
  return status.kind === "sending" ? status.share : status.kind === "checking" ? 1 : 0;
}

export function filterItems(items: readonly UploadItem[], filter: UploadFilter): readonly UploadItem[] {
  if (filter === "all") return items;
  const isStored = ({ status }: UploadItem) => status.kind === "done";
  const filters = { unfinished: isUnfinished, problems: isProblem, noPictures: isNoPicture, stored: isStored };
  return items.filter(filters[filter]);
}

/** Whether the service already had the content, so that no bytes were sent. */
function wasDeduplicated({ status, file }: Pick<UploadItem, "status" | "file">): boolean {
  return status.kind === "done" && status.sentBytes === 0 && file.size > 0;
}

function isNoPicture(item: UploadItem): boolean {
  return item.isNoPicture === true;
}

type Words = { t: ReturnType<typeof useTranslations<"uploads">>; errors: ReturnType<typeof useTranslations<"errors">>; locale: string };

export function getTone(item: UploadItem): Tone {
  const { kind } = item.status;
  if (kind === "failed" || isAlarm(item)) return "bad";
  if (kind === "done" && (item.isNoPicture || isUnwritten(item))) return "unknown";
  if (kind === "done") return "ok";
  if (kind === "paused") return "off";
  return kind === "waiting" || kind === "holding" ? "wait" : "run";
}

/** A file's state and the reason for it, in one line. */
export function stateText(item: UploadItem, { t, errors, locale }: Words): string {
  const { status, sentWhole } = item;
  switch (status.kind) {
    case "waiting":
      return t(status.isBehind ? "state.behind" : "state.waiting");
    case "asking":
    case "holding":
      return t(`state.${status.kind}`);
    case "hashing":
    case "checking":
      return t(`state.${status.kind}`, { share: status.share });
    case "sending":
      return joinText([t("state.sending", { share: status.share }), sentWhole && t(`whole.${sentWhole}`)]);
    case "paused":
      return t(status.isLost ? "state.pausedLost" : "state.paused");
    case "failed":
      return `${t("state.failed")}: ${failureText(errors, status.failure)}`;
    case "done":
      return joinText([
        // An alarm comes first.
        isAlarm(item) ? checkText(item, t) : undefined,
        isUnwritten(item) ? changingText(item, { t, errors, locale }) : undefined,
        item.isNoPicture ? t("state.noPicture") : undefined,
        doneText(item, { t, errors, locale }),
        isAlarm(item) ? undefined : checkText(item, t),
        isUnwritten(item) ? undefined : changingText(item, { t, errors, locale }),
      ]);
  }
}

function doneText({ status, file, assetFields }: UploadItem, { t, locale }: Words): string | undefined {
  if (status.kind !== "done") return undefined;
  if (!wasDeduplicated({ status, file })) return t("state.sent", { size: formatBytes(status.sentBytes, locale) });
  const differentName = otherName({ status, file, assetFields });
  return differentName === undefined ? t("state.deduplicated") : t("state.deduplicatedAs", { name: differentName });
}

/** The asset's name if it differs, since existing content keeps its name. */
export function otherName({ status, file, assetFields }: Pick<UploadItem, "status" | "file" | "assetFields">): string | undefined {
  const name = status.kind === "done" ? status.asset.name : undefined;
  return name === "" || name === (assetFields.name || file.name) ? undefined : name;
}

function checkText({ status }: UploadItem, t: Words["t"]): string | undefined {
  if (status.kind !== "done") return undefined;
  const { check } = status;
  if (check.kind === "differs") return t("state.differs", { theirs: check.serverHash });
  return check.kind === "verified" ? t("state.verified") : t(`unchecked.${check.why}`);
}

function changingText({ changing }: UploadItem, { t, errors, locale }: Words): string | undefined {
  if (changing === undefined) return undefined;
  if (changing === "now") return t("changing.now");
  const parts = new Intl.ListFormat(locale, { type: "unit" }).format(changing.parts.map((part) => t(`changing.part.${part}`)));
  return t("changing.failed", { parts, reason: cannotChange({ changing }) ? t("changing.absent") : failureText(errors, changing.failure) });
}

/** Whether the service can't change stored assets. */
export function cannotChange({ changing }: Pick<UploadItem, "changing">): boolean {
  return changing !== undefined && changing !== "now" && isMissingOperation(changing.failure);
}

function joinText(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join(" · ");
}

/** The progress of the current step, 0 to 1; undefined if unknown. */
export function getStepShare({ status }: UploadItem): number | undefined {
  return status.kind === "hashing" || status.kind === "sending" || status.kind === "checking" ? status.share : undefined;
}
