import { type ReactNode } from "react";
import { useRange } from "../hooks/use-range";
import { Checkbox } from "./checkbox";

type CheckListProps<T> = {
  options: readonly T[];
  chosen: readonly T[];
  onChange: (chosen: T[]) => void;
  children: (option: T) => ReactNode;
};

/** Boxes below one another; with Shift, everything from the one pressed before to this one is ticked or unticked with it. */
export function CheckList<T>({ options, chosen, onChange, children }: CheckListProps<T>) {
  const rangeTo = useRange(options);
  const press = (option: T, isOn: boolean, isRange: boolean) => {
    const meant = rangeTo(option, isRange);
    const others = chosen.filter((each) => !meant.includes(each));
    onChange(isOn ? [...others, ...meant] : others);
  };
  return options.map((option, place) => (
    // Shift would select the text between the two presses.
    <label
      key={place}
      className="flex min-h-7 items-center gap-2"
      onMouseDown={(event) => (event.shiftKey ? event.preventDefault() : undefined)}
      // Firefox hands no click with Shift on to the box; the others must not do it a second time.
      onClick={(event) => {
        if (!event.shiftKey || event.target instanceof HTMLInputElement) return;
        event.preventDefault();
        event.currentTarget.control?.focus();
        press(option, !chosen.includes(option), true);
      }}
    >
      <Checkbox
        checked={chosen.includes(option)}
        onChange={({ currentTarget, nativeEvent }) =>
          press(option, currentTarget.checked, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
        }
      />
      {children(option)}
    </label>
  ));
}
