import { useTranslations } from "next-intl";
import { Dialog, KeyList } from "@/components/ui/dialog";
import { useConnection } from "./connection/connection-context";
import { getDestinations } from "./destinations";
import { useRunsAppsOnly } from "./member-context";

const keys = [
  { act: "palette", shown: ["Ctrl", "K"] },
  { act: "move", shown: ["j", "k"] },
  { act: "select", shown: ["x"] },
  { act: "open", shown: ["Enter"] },
  { act: "cancel", shown: ["c"] },
  { act: "rerun", shown: ["r"] },
  { act: "filter", shown: ["/"] },
  { act: "extend", shown: ["Shift", "j"] },
  { act: "run", shown: ["Ctrl", "Enter"] },
  { act: "grid", shown: ["←", "↑", "↓", "→"] },
  { act: "view", shown: ["Space"] },
  { act: "all", shown: ["Ctrl", "A"] },
  { act: "close", shown: ["Esc"] },
  { act: "sheet", shown: ["?"] },
] as const;

export function ShortcutSheet({ onClose }: { onClose: () => void }) {
  const t = useTranslations("frame.keys");
  const page = useTranslations("frame");
  const pages = getDestinations(useConnection(), useRunsAppsOnly()).flatMap(({ letter, label }) =>
    letter === undefined ? [] : [{ keys: ["g", letter], text: t("goTo", { page: page(label) }) }],
  );
  return (
    <Dialog isOpen onClose={onClose} title={t("title")} actions="close">
      <KeyList rows={[...keys.map(({ act, shown }) => ({ keys: shown, text: t(act) })), ...pages]} className="gap-y-2" />
    </Dialog>
  );
}
