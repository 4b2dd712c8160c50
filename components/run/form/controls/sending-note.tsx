import { useTranslations } from "next-intl";
import { Button } from "@/components/ui/controls/button";
import { ProgressBar } from "@/components/ui/progress-bar";

type SendingNoteProps = { name: string; share: number; onStop: () => void };

/** A file being sent to the service: its name, its progress, and Stop. */
export function SendingNote({ name, share, onStop }: SendingNoteProps) {
  const t = useTranslations("run.picture");
  const label = t("sending", { name });
  return (
    <span className="flex flex-wrap items-center gap-2">
      <span className="min-w-0 truncate">{label}</span>
      <ProgressBar value={share} label={label} />
      <Button size="small" onClick={onStop}>
        {t("stop")}
      </Button>
    </span>
  );
}
