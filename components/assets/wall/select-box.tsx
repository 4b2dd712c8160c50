"use client";

import { useTranslations } from "next-intl";
import { useChosen } from "@/components/data-table/select-cells";
import { Checkbox } from "@/components/ui/checkbox";
import { type Picking } from "./use-picking";

type SelectBoxProps = { id: string; name: string; index: number; picking: Picking; className?: string };

/** The whole label can be pressed; with shift it chooses everything from the last one pressed to this one. */
export function SelectBox({ id, name, index, picking, className }: SelectBoxProps) {
  const t = useTranslations("assets.select");
  const isOn = useChosen(picking.store, () => picking.store.has(id));
  return (
    <label className={className} onClick={(event) => event.stopPropagation()}>
      <Checkbox
        tabIndex={-1}
        aria-label={t("one", { name })}
        checked={isOn}
        onChange={({ nativeEvent }) => {
          if (nativeEvent instanceof MouseEvent && nativeEvent.shiftKey) void picking.extend(index);
          else picking.toggle(index);
        }}
      />
    </label>
  );
}
