import { type useTranslations } from "next-intl";
import { failureText } from "@/components/frame/failure/failure-text";
import { type Tone } from "@/components/ui/tone";
import { lacksOperation } from "@/lib/contract/failure";
import { formatBytes } from "@/lib/shared/format";
import { isAlarm, isUnwritten, type UploadItem } from "./upload-item";
import { wasKnown } from "./upload-state";

type Words = { t: ReturnType<typeof useTranslations<"uploads">>; errors: ReturnType<typeof useTranslations<"errors">>; locale: string };

export function toneOf(item: UploadItem): Tone {
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
      return joined([t("state.sending", { share: status.share }), sentWhole && t(`whole.${sentWhole}`)]);
    case "paused":
      return t(status.lost ? "state.pausedLost" : "state.paused");
    case "failed":
      return `${t("state.failed")}: ${failureText(errors, status.failure)}`;
    case "done":
      return joined([
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

function doneText({ status, file, about }: UploadItem, { t, locale }: Words): string | undefined {
  if (status.kind !== "done") return undefined;
  if (!wasKnown({ status, file })) return t("state.sent", { size: formatBytes(status.sentBytes, locale) });
  const other = otherName({ status, file, about });
  return other === undefined ? t("state.known") : t("state.knownAs", { name: other });
}

/** Existing content keeps the name that it had. */
export function otherName({ status, file, about }: Pick<UploadItem, "status" | "file" | "about">): string | undefined {
  const name = status.kind === "done" ? status.asset.name : undefined;
  return name === "" || name === (about.name || file.name) ? undefined : name;
}

function checkText({ status }: UploadItem, t: Words["t"]): string | undefined {
  if (status.kind !== "done") return undefined;
  const { check } = status;
  if (check.kind === "differs") return t("state.differs", { theirs: check.theirs });
  return check.kind === "verified" ? t("state.verified") : t(`unchecked.${check.why}`);
}

function changingText({ changing }: UploadItem, { t, errors, locale }: Words): string | undefined {
  if (changing === undefined) return undefined;
  if (changing === "now") return t("changing.now");
  const parts = new Intl.ListFormat(locale, { type: "unit" }).format(changing.parts.map((part) => t(`changing.part.${part}`)));
  return t("changing.failed", { parts, reason: cannotChange({ changing }) ? t("changing.absent") : failureText(errors, changing.failure) });
}

/** The service has answered that it cannot change stored assets. */
export function cannotChange({ changing }: Pick<UploadItem, "changing">): boolean {
  return changing !== undefined && changing !== "now" && lacksOperation(changing.failure);
}

function joined(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join(" · ");
}

/** The progress of the current step, 0 to 1; undefined if unknown. */
export function shareOfStep({ status }: UploadItem): number | undefined {
  return status.kind === "hashing" || status.kind === "sending" || status.kind === "checking" ? status.share : undefined;
}
