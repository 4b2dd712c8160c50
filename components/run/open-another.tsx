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
  /** What was chosen and is still on its way is not wanted any more. */
  onStop: () => void;
};

/** Every way in that the empty page has. It closes by what came of it: another workflow, or a refusal, which the page tells. */
export function OpenAnother({ serial, refusal, ways, onStop }: OpenAnotherProps) {
  const t = useTranslations("run.open");
  const common = useTranslations("common");
  const [asked, setAsked] = useState<{ serial: number; refusal?: Refusal }>();
  // Reset, not only hidden: the dialog would open again once the refusal is dismissed.
  if (asked && (asked.serial !== serial || asked.refusal !== refusal)) setAsked(undefined);
  function cancel() {
    // The dialog tells of its closing also where it was closed by what came.
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
