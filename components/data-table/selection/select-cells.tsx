import { useSyncExternalStore } from "react";
import { Checkbox } from "@/components/ui/controls/checkbox";
import { type SelectionStore } from "./selection-store";

export function useChosen<T extends string | boolean | ReadonlySet<string>>(store: SelectionStore, read: () => T): T {
  return useSyncExternalStore(store.subscribe, read, read);
}

type SelectRowProps = { id: string; label: string; store: SelectionStore };

/** The whole cell can be clicked and lies above the row's link; with Shift it selects everything from the last clicked one to this one. */
export function SelectRow({ id, label, store }: SelectRowProps) {
  const isOn = useChosen(store, () => store.has(id));
  return (
    // With Shift the browser would select the text between the two clicks.
    <label className="select-cell" onMouseDown={(event) => (event.shiftKey ? event.preventDefault() : undefined)}>
      {/* A plain element, with the row's colour from the stylesheet: selecting all renders as many of these as the window holds. */}
      <input
        type="checkbox"
        aria-label={label}
        checked={isOn}
        onChange={({ currentTarget, nativeEvent }) =>
          store.choose(id, currentTarget.checked, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
        }
      />
    </label>
  );
}

export function SelectAllRows({ label, store, isEmpty = false }: Omit<SelectRowProps, "id"> & { isEmpty?: boolean }) {
  const share = useChosen(store, store.share);
  return (
    <label className="select-cell">
      <Checkbox
        aria-label={label}
        checked={share === "all"}
        indeterminate={share === "some"}
        disabled={isEmpty}
        onChange={() => (share === "all" ? store.clear() : store.choosePage())}
      />
    </label>
  );
}
