import { type ReactNode } from "react";
import { cn } from "../cn";
import { useClickedRange } from "../hooks/page-events";
import { Checkbox } from "./fields";

type CheckListProps<T> = {
  options: readonly T[];
  selected: readonly T[];
  onChange: (values: T[]) => void;
  children: (option: T) => ReactNode;
};

/** A list of checkboxes. Shift-click changes all options from the last clicked one. */
export function CheckList<T>({ options, selected, onChange, children }: CheckListProps<T>) {
  const getClickedRange = useClickedRange(options);
  const toggle = (option: T, isChecked: boolean, isRange: boolean) => {
    const range = getClickedRange(option, isRange);
    const otherOptions = selected.filter((value) => !range.includes(value));
    onChange(isChecked ? [...otherOptions, ...range] : otherOptions);
  };
  return options.map((option, index) => (
    // On Shift-click, the browser would select the text between the two clicks.
    <label
      key={index}
      className="flex min-h-7 items-center gap-2"
      onMouseDown={(event) => (event.shiftKey ? event.preventDefault() : undefined)}
      // Firefox does not forward Shift-clicks from the label to the checkbox. Other browsers must not toggle it twice.
      onClick={(event) => {
        if (!event.shiftKey || event.target instanceof HTMLInputElement) return;
        event.preventDefault();
        event.currentTarget.control?.focus();
        toggle(option, !selected.includes(option), true);
      }}
    >
      <Checkbox
        checked={selected.includes(option)}
        onChange={({ currentTarget, nativeEvent }) =>
          toggle(option, currentTarget.checked, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
        }
      />
      {children(option)}
    </label>
  ));
}

type ChecksFieldProps<T> = CheckListProps<T> & { label: string; hint: string; error: string | undefined; className: string };

export function ChecksField<T>({ label, hint, error, className, ...listProps }: ChecksFieldProps<T>) {
  return (
    <fieldset>
      <legend className="font-medium">{label}</legend>
      <div className={cn("mt-1 grid", className)}>
        <CheckList {...listProps} />
      </div>
      <p className="text-sm text-ink-3">{hint}</p>
      {error ? <p className="text-sm text-bad">{error}</p> : null}
    </fieldset>
  );
}
