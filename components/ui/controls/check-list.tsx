import { type ReactNode } from "react";
import { useRange } from "../hooks/use-range";
import { Checkbox } from "./fields";

type CheckListProps<T> = {
  options: readonly T[];
  chosen: readonly T[];
  onChange: (values: T[]) => void;
  children: (option: T) => ReactNode;
};

/** A column of checkboxes; with Shift, all from the last clicked one to this one are checked or unchecked together. */
export function CheckList<T>({ options, chosen, onChange, children }: CheckListProps<T>) {
  const rangeTo = useRange(options);
  const press = (option: T, isOn: boolean, isRange: boolean) => {
    const range = rangeTo(option, isRange);
    const outsideRange = chosen.filter((each) => !range.includes(each));
    onChange(isOn ? [...outsideRange, ...range] : outsideRange);
  };
  return options.map((option, index) => (
    // With Shift the browser would select the text between the two clicks.
    <label
      key={index}
      className="flex min-h-7 items-center gap-2"
      onMouseDown={(event) => (event.shiftKey ? event.preventDefault() : undefined)}
      // Firefox does not pass a click with Shift from the label to the checkbox; in other browsers this must not toggle it twice.
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
