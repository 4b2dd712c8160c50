"use client";

import { type ChangeEvent, type ComponentProps, type ReactNode, useEffect, useEffectEvent, useId, useRef, useState } from "react";
import { cn } from "../cn";
import { isComposing as isComposingKey } from "../hooks/page-events";

export function Input({ className, ...props }: ComponentProps<"input">) {
  return <input {...props} className={cn("field max-sm:text-[16px]", className)} />;
}

/** The browser's native select, as wide as the selected option. */
export function Select({ className, ...props }: ComponentProps<"select">) {
  return <select {...props} className={cn("field", className)} />;
}

type CheckboxProps = Omit<ComponentProps<"input">, "type" | "ref"> & { indeterminate?: boolean };

export function Checkbox({ indeterminate = false, className, ...props }: CheckboxProps) {
  const box = useRef<HTMLInputElement>(null);
  const { checked } = props;
  useEffect(() => {
    if (box.current) box.current.indeterminate = indeterminate;
  }, [indeterminate]);
  // A click before hydration changes the checkbox but not the state, so the checkbox is reset.
  useEffect(() => {
    if (box.current && checked !== undefined && box.current.checked !== checked) box.current.checked = checked;
  }, [checked]);
  return <input {...props} ref={box} type="checkbox" className={cn("size-4 shrink-0 align-middle", className)} />;
}

type CheckFieldProps = CheckboxProps & { label: ReactNode };

export function CheckField({ label, className, title, ...checkbox }: CheckFieldProps) {
  return (
    <label title={title} className={cn("flex items-center gap-2", className)}>
      <Checkbox {...checkbox} />
      {label}
    </label>
  );
}

/** The options of a select, as pairs of value and text. */
export function Options({ of }: { of: readonly (readonly [value: string | number, text: ReactNode])[] }) {
  return of.map(([value, text]) => (
    <option key={value} value={value}>
      {text}
    </option>
  ));
}

const SEARCH_DEBOUNCE_MS = 350;

type SearchFieldProps = Omit<ComponentProps<"input">, "type" | "value" | "defaultValue" | "onChange"> & {
  text: string;
  /** Receives the trimmed text if it has changed. */
  onSearch: (searchText: string) => void;
};

/**
 * Searches shortly after the last key press, or on Enter, which never submits a surrounding form. `sentText` is the last search of this field.
 * The input is replaced only if `text` differs from it, for example after Back or a link.
 */
export function SearchField({ text, onSearch, ...props }: SearchFieldProps) {
  const [field, setField] = useState({ inputText: text, sentText: text, lastText: text, isComposing: false });
  const { inputText, sentText, isComposing } = field;
  if (field.lastText !== text) setField({ ...field, lastText: text, ...(text !== sentText && { inputText: text, sentText: text }) });
  /** `isForced`: set on Enter, which also repeats a failed search. */
  function search(isForced: boolean) {
    const searchText = inputText.trim();
    if (searchText === sentText && (!isForced || searchText === text)) return;
    setField((current) => ({ ...current, sentText: searchText }));
    onSearch(searchText);
  }
  const sendSearch = useEffectEvent(search);
  useEffect(() => {
    // Does not search while an input method is composing text.
    if (isComposing || inputText.trim() === sentText) return undefined;
    const timer = setTimeout(() => sendSearch(false), SEARCH_DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [inputText, sentText, isComposing]);
  function handleChange({ currentTarget: { value }, nativeEvent }: ChangeEvent<HTMLInputElement>) {
    setField((current) => ({ ...current, inputText: value, isComposing: nativeEvent instanceof InputEvent && nativeEvent.isComposing }));
  }
  return (
    <Input
      enterKeyHint="search"
      spellCheck={false}
      {...props}
      type="search"
      value={inputText}
      onChange={handleChange}
      onCompositionEnd={({ currentTarget: { value } }) => setField((current) => ({ ...current, inputText: value, isComposing: false }))}
      onKeyDown={(event) => {
        if (event.key !== "Enter" || isComposingKey(event.nativeEvent)) return;
        event.preventDefault();
        search(true);
      }}
    />
  );
}

type FormFieldProps = {
  label: ReactNode;
  hint?: ReactNode;
  error?: ReactNode;
  /** Receives the attributes that connect the control to its label, hint and error. */
  children: (control: { id: string; "aria-describedby"?: string; "aria-invalid"?: true }) => ReactNode;
};

export function FormField({ label, hint, error, children }: FormFieldProps) {
  const id = useId();
  const describedBy = [hint ? `${id}-hint` : "", error ? `${id}-error` : ""].filter(Boolean).join(" ");
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      {children({ id, ...(describedBy && { "aria-describedby": describedBy }), ...(error ? { "aria-invalid": true as const } : {}) })}
      {hint ? (
        <p id={`${id}-hint`} className="text-sm text-ink-3">
          {hint}
        </p>
      ) : null}
      {error ? (
        <p id={`${id}-error`} className="text-sm text-bad">
          {error}
        </p>
      ) : null}
    </div>
  );
}

type FieldProps = Pick<FormFieldProps, "label" | "hint" | "error">;

export function InputField({ label, hint, error, ...input }: FieldProps & ComponentProps<"input">) {
  return <FormField {...{ label, hint, error }}>{(control) => <Input {...control} {...input} />}</FormField>;
}

export function SelectField({ label, hint, error, ...select }: FieldProps & ComponentProps<"select">) {
  return <FormField {...{ label, hint, error }}>{(control) => <Select {...control} {...select} />}</FormField>;
}

export function TextareaField({ label, hint, error, ...textarea }: FieldProps & ComponentProps<"textarea">) {
  return <FormField {...{ label, hint, error }}>{(control) => <Textarea {...control} {...textarea} />}</FormField>;
}

export function Textarea({ className, rows = 4, ...props }: ComponentProps<"textarea">) {
  return <textarea {...props} rows={rows} className={cn("field max-sm:text-[16px]", className)} />;
}

/** Returns the text of a form field. Empty for a file or a missing field. */
export function getFieldText(data: FormData, name: string): string {
  const value = data.get(name);
  return typeof value === "string" ? value : "";
}
