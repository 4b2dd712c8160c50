import { useLocale, useTranslations } from "next-intl";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { EmptyState } from "@/components/ui/empty-state";
import { useFilePick } from "@/components/ui/hooks/use-file-pick";
import { useNumber } from "@/components/ui/hooks/use-numbers";
import { isNotThere } from "@/lib/contract/failure";
import { formatBytes } from "@/lib/shared/format";
import { LONGEST_EDGE, MAX_PIXELS, MOST_BYTES } from "./file/limits";
import { type OpenRefusal } from "./file/open-mask";

type MaskRefusedProps = {
  refusal: OpenRefusal;
  name: string;
  /** The service lists the file, so it exists even if it is not handed out. */
  isListed: boolean;
  onRetry: () => void;
  onFile: (file: File) => void;
};

/** Why the picture cannot be opened, and what can be done about it. */
export function MaskRefused({ refusal, name, isListed, onRetry, onFile }: MaskRefusedProps) {
  const t = useTranslations("masks.refused");
  const locale = useLocale();
  const number = useNumber();
  const pick = <PickOriginal onFile={onFile} />;
  if (refusal.kind === "failed") {
    if (!isNotThere(refusal.failure)) return <FailureMessage failure={refusal.failure} onRetry={onRetry} className="m-4 md:mx-5" />;
    if (isListed) return <EmptyState title={t("notHandedOut")} text={t("pickText")} action={pick} />;
    return (
      <>
        <FailureMessage failure={refusal.failure} onRetry={onRetry} actions={pick} className="m-4 md:mx-5" />
        <p className="mx-4 max-w-[70ch] text-ink-2 md:mx-5">{t("pickText")}</p>
      </>
    );
  }
  if (refusal.kind === "other-file") {
    const text = t("otherFileText", { size: formatBytes(refusal.bytes, locale), wanted: formatBytes(refusal.wanted, locale) });
    return <EmptyState title={t("otherFile")} text={text} action={pick} />;
  }
  if (refusal.kind === "not-picture") return <EmptyState title={t("notPicture")} text={t("notPictureText")} />;
  if (refusal.kind === "broken") return <EmptyState title={t("broken")} text={t("brokenText", { name })} />;
  if (refusal.kind === "unknown-size")
    return <EmptyState title={t("unknownSize")} text={`${t("unknownSizeText")} ${t("pickText")}`} action={pick} />;
  const { why } = refusal;
  const text =
    why.reason === "bytes"
      ? t("bytes", { name, size: formatBytes(why.bytes, locale), most: formatBytes(MOST_BYTES, locale) })
      : why.reason === "edge"
        ? t("edge", { name, width: number(why.width), height: number(why.height), most: number(LONGEST_EDGE) })
        : t("pixels", {
            name,
            width: number(why.width),
            height: number(why.height),
            count: number(Math.round((why.width * why.height) / 1e6)),
            most: number(Math.floor(MAX_PIXELS / 1e6)),
          });
  return <EmptyState title={t("tooLarge")} text={text} />;
}

/** Picks the same file from this computer. */
function PickOriginal({ onFile }: { onFile: (file: File) => void }) {
  const t = useTranslations("masks.refused");
  const { input, open } = useFilePick({ accept: "image/*", testId: "mask-original", onFiles: ([file]) => file && onFile(file) });
  return (
    <>
      <Button onClick={open}>{t("pick")}</Button>
      {input}
    </>
  );
}
