import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent, useMemo, useState } from "react";
import { createSelection, type SelectionStore } from "@/components/data-table/selection/selection-store";
import { showToast } from "@/components/ui/toast-store";
import { type AssetsSource } from "./assets-source";
import { createPicker, type Picker, type Short } from "./picking";

export type Picking = Omit<Picker, "follow" | "letGo"> & { store: SelectionStore; isReading: boolean };

/** Clears the selection when the filters change. */
export function usePicking(source: AssetsSource, question: string): Picking {
  const t = useTranslations("assets.bulk");
  const [store] = useState(createSelection);
  const [isReading, setReading] = useState(false);
  const [short, setShort] = useState<Short>();
  const [picker] = useState(() => createPicker(store, { onReading: setReading, onShort: setShort }));
  const tell = useEffectEvent(({ why, count, meant }: Short) => showToast({ tone: "wait", text: t(`short.${why}`, { count, meant }) }));
  useEffect(() => {
    if (short) tell(short);
  }, [short]);
  useEffect(() => picker.follow(source), [picker, source]);
  useEffect(() => picker.letGo, [question, picker]);
  return useMemo(() => ({ ...picker, store, isReading }), [picker, store, isReading]);
}
