import { FolderOpen } from "lucide-react";
import { useTranslations } from "next-intl";
import { type ComponentProps, useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { Dialog } from "@/components/ui/dialog";
import { EmptyRun } from "./empty-run";
import { type Refusal } from "./workflow/refusal";

export type WaysIn = Omit<ComponentProps<typeof EmptyRun>, "note" | "recent">;

type OpenAnotherProps = {
  serial: number;
  refusal?: Refusal;
  ways: WaysIn;
  /** Cancels what was chosen and is still being loaded. */
  onStop: () => void;
};

/** Every way to open a workflow that the empty page has. The dialog closes once a workflow opens or is refused; the page shows why. */
export function OpenAnother({ serial, refusal, ways, onStop }: OpenAnotherProps) {
  const t = useTranslations("run.open");
  const common = useTranslations("common");
  const [asked, setAsked] = useState<{ serial: number; refusal?: Refusal }>();
  // Reset, not only hidden: the dialog would open again once the refusal is dismissed.
  if (asked && (asked.serial !== serial || asked.refusal !== refusal)) setAsked(undefined);
  function cancel() {
    // The dialog also reports a close that an opening or a refusal caused.
    if (!asked) return;
    setAsked(undefined);
    onStop();
  }
  return (
    <>
      <Button title={t("another")} onClick={() => setAsked({ serial, refusal })}>
        <FolderOpen aria-hidden="true" className="size-4 lg:hidden" />
        <span className="max-lg:sr-only">{t("another")}</span>
      </Button>
      <Dialog
        isOpen={asked !== undefined}
        onClose={cancel}
        title={t("anotherTitle")}
        className="w-[min(960px,calc(100vw-32px))]"
        actions={<Button onClick={cancel}>{common("cancel")}</Button>}
      >
        <EmptyRun {...ways} />
      </Dialog>
    </>
  );
}
