import { type ComponentProps, type ReactNode, useId } from "react";
import { cn } from "../cn";
import { Input, Select } from "./fields";

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

export function Textarea({ className, rows = 4, ...rest }: ComponentProps<"textarea">) {
  return <textarea {...rest} rows={rows} className={cn("field max-sm:text-[16px]", className)} />;
}

/** The text of a form field; empty for a file or a missing field. */
export function fieldText(data: FormData, name: string): string {
  const value = data.get(name);
  return typeof value === "string" ? value : "";
}
