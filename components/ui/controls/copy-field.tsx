import { type ReactNode } from "react";
import { CopyButton } from "./copy-button";
import { FormField } from "./form-field";
import { Input } from "./input";

type CopyFieldProps = { label: string; hint?: ReactNode; text: string; copyLabel: string; autoFocus?: boolean };

/** A link, key or command to copy; focusing it selects all of it. */
export function CopyField({ label, hint, text, copyLabel, autoFocus }: CopyFieldProps) {
  return (
    <FormField label={label} hint={hint}>
      {(control) => (
        <span className="flex items-center gap-1">
          <Input
            {...control}
            readOnly
            value={text}
            autoFocus={autoFocus}
            onFocus={(event) => event.currentTarget.select()}
            className="font-mono text-sm"
          />
          <CopyButton text={text} label={copyLabel} />
        </span>
      )}
    </FormField>
  );
}
