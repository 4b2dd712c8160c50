"use client";

import { useEffect, useRef, useSyncExternalStore } from "react";
import { Checkbox } from "@/components/ui/checkbox";
import { type SelectionStore } from "./selection-store";

export function useChosen<T extends string | boolean | ReadonlySet<string>>(store: SelectionStore, read: () => T): T {
  return useSyncExternalStore(store.subscribe, read, read);
}

type SelectRowProps = { id: string; label: string; store: SelectionStore };

/** The whole cell can be pressed, above the row's link. */
export function SelectRow({ id, label, store }: SelectRowProps) {
  const isOn = useChosen(store, () => store.has(id));
  const cell = useRef<HTMLLabelElement>(null);
  // The row shows it too, without being drawn again.
  useEffect(() => void cell.current?.closest("tr")?.toggleAttribute("data-chosen", isOn), [isOn]);
  return (
    <label ref={cell} className="select-cell">
      <Checkbox
        aria-label={label}
        checked={isOn}
        onChange={({ currentTarget, nativeEvent }) =>
          store.choose(id, currentTarget.checked, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
        }
      />
    </label>
  );
}

export function SelectAllRows({ label, store }: Omit<SelectRowProps, "id">) {
  const share = useChosen(store, store.share);
  return (
    <label className="select-cell">
      <Checkbox
        aria-label={label}
        checked={share === "all"}
        indeterminate={share === "some"}
        onChange={() => (share === "all" ? store.clear() : store.choosePage())}
      />
    </label>
  );
}
