import { useTranslations } from "next-intl";
import { Button } from "@/components/ui/controls/button";
import { Dialog } from "@/components/ui/dialog";
import { KeyList } from "@/components/ui/key-list";
import { keyList } from "../input/keys";

export function KeyDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const t = useTranslations("masks.keys");
  const common = useTranslations("common");
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={t("title")}
      actions={<Button onClick={onClose}>{common("close")}</Button>}
      className="w-[min(720px,calc(100vw-32px))]"
    >
      <KeyList
        rows={keyList.map(({ act, shown }) => ({ keys: shown, text: t(act) }))}
        className="sm:grid-cols-[auto_minmax(0,1fr)_auto_minmax(0,1fr)]"
      />
    </Dialog>
  );
}
