import { useTranslations } from "next-intl";
import { Button } from "@/components/ui/controls/button";
import { Dialog } from "@/components/ui/dialog";
import { KeyList } from "@/components/ui/key-list";

const keys = [
  { act: "turn", shown: ["←", "→"] },
  { act: "ends", shown: ["Home", "End"] },
  { act: "zoom", shown: ["+", "-"] },
  { act: "fit", shown: ["0"] },
  { act: "pixels", shown: ["1"] },
  { act: "pan", shown: ["Shift", "←", "↑", "↓", "→"] },
  { act: "slides", shown: ["Space"] },
  { act: "mark", shown: ["C"] },
  { act: "close", shown: ["Esc"] },
  { act: "keys", shown: ["?"] },
] as const;

type ViewerKeysProps = { isOpen: boolean; canCompare: boolean; onClose: () => void };

export function ViewerKeys({ isOpen, canCompare, onClose }: ViewerKeysProps) {
  const t = useTranslations("viewer.keys");
  const common = useTranslations("common");
  const here = keys.filter(({ act }) => act !== "mark" || canCompare);
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={t("title")} actions={<Button onClick={onClose}>{common("close")}</Button>}>
      <KeyList rows={here.map(({ act, shown }) => ({ keys: shown, text: t(act) }))} className="gap-y-2" />
    </Dialog>
  );
}
