"use client";

import { useTranslations } from "next-intl";
import { Menu } from "@/components/ui/menu";
import { openWayIn, waysIn } from "./ways-in";

/** Every way in which bytes get into the service, behind one button. */
export function WaysInMenu() {
  const t = useTranslations("frame.ways");
  return (
    <Menu tone="primary" label={t("label")} items={waysIn.map((way) => ({ key: way, label: t(way), onSelect: () => openWayIn(way) }))} />
  );
}
