import { useTranslations } from "next-intl";
import { Menu } from "@/components/ui/controls/menu";
import { useConnection } from "./connection/connection-context";
import { openWayIn, waysOf } from "./ways-in";

/** Every way to bring bytes into the service, behind one button. */
export function WaysInMenu() {
  const t = useTranslations("frame.ways");
  const ways = waysOf(useConnection());
  return (
    <Menu tone="primary" label={t("label")} items={ways.map((way) => ({ key: way, label: t(way), onSelect: () => openWayIn(way) }))} />
  );
}
