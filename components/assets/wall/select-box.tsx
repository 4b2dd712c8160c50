import { useChosen } from "@/components/data-table/selection/select-cells";
import { type Picking } from "./use-picking";

type SelectBoxProps = { id: string; name: string; index: number; picking: Picking; className?: string };

/** The whole label can be clicked; with Shift it selects everything from the last clicked one to this one. */
export function SelectBox({ id, name, index, picking, className }: SelectBoxProps) {
  const isOn = useChosen(picking.store, () => picking.store.has(id));
  return (
    <label className={className} onClick={(event) => event.stopPropagation()}>
      {/* A plain element, labelled by what it selects: hundreds come and go while scrolling. */}
      <input
        type="checkbox"
        tabIndex={-1}
        aria-label={name}
        checked={isOn}
        className="size-4"
        onChange={({ nativeEvent }) => {
          if (nativeEvent instanceof MouseEvent && nativeEvent.shiftKey) void picking.extend(index);
          else picking.toggle(index);
        }}
      />
    </label>
  );
}
