import { useLocale, useTranslations } from "next-intl";
import { Button } from "@/components/ui/controls/button";
import { ProgressBar } from "@/components/ui/progress-bar";
import { formatBytes } from "@/lib/shared/format";
import { type SaveStep } from "../file/save-mask";

/** The present step of saving a large mask, in words; each step is announced once. */
export function Saving({ step, onStop }: { step: SaveStep; onStop: () => void }) {
  const t = useTranslations("masks");
  const locale = useLocale();
  const name = t(`save.step.${step.kind}`);
  return (
    <span className="flex items-center gap-2 text-ink-2 tabular-nums">
      <span role="status" className="sr-only">
        {name}
      </span>
      <span aria-hidden="true">
        {step.kind === "sending"
          ? t("save.sending", { done: formatBytes(step.share * step.bytes, locale), all: formatBytes(step.bytes, locale) })
          : step.kind === "packing"
            ? t("save.packing", { share: step.share })
            : name}
      </span>
      {step.kind === "storing" ? null : <ProgressBar value={step.share} label={name} className="max-sm:hidden" />}
      <Button size="small" onClick={onStop}>
        {t("act.stop")}
      </Button>
    </span>
  );
}
