import { useTranslations } from "next-intl";
import { type ReactNode, useCallback, useState } from "react";
import { cn } from "../cn";
import { showToast } from "../toast-store";
import { FormField, Input } from "./fields";

type CopyButtonProps = {
  /** A function if the text can be computed only in the browser. */
  text: string | (() => string);
  label: string;
  className?: string;
};

export function CopyButton({ text, label, className }: CopyButtonProps) {
  const copy = useCopy();
  const [isCopied, setCopied] = useState(false);
  async function copyText() {
    if (!(await copy(typeof text === "string" ? text : text()))) return;
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  }
  return (
    <button type="button" aria-label={label} onClick={() => void copyText()} className={className ? `copy ${className}` : "copy"}>
      <svg className="icon" viewBox="0 0 14 14" aria-hidden="true">
        <path d={isCopied ? "M2.75 7.5 5.6 10.25 11.25 4" : "M5 5h6.5v6.5H5zM9 2.5H2.5V9"} />
      </svg>
    </button>
  );
}

type CopyFieldProps = { label: string; hint?: ReactNode; text: string; copyLabel: string; autoFocus?: boolean };

/** A link, key or command to copy. Focusing it selects the text. */
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

type CopyableIdProps = {
  id: string;
  /** The maximum number of characters to show. Shows all if absent. */
  maxLength?: number;
  className?: string;
};

/** A shortened id with the full id as tooltip, and a button that copies it. */
export function CopyableId({ id, maxLength, className }: CopyableIdProps) {
  const t = useTranslations("common");
  return (
    <span className={cn("inline-flex max-w-full items-center gap-0.5", className)}>
      <span title={id} className="truncate font-mono text-sm">
        {id.slice(0, maxLength)}
      </span>
      <CopyButton text={id} label={t("copy", { id })} />
    </span>
  );
}

/** Copies text to the clipboard and shows a toast on failure. With `doneMessage`, also shows a toast on success. */
export function useCopy(): (text: string, doneMessage?: string) => Promise<boolean> {
  const t = useTranslations("common");
  return useCallback(
    async (text, doneMessage) => {
      try {
        await navigator.clipboard.writeText(text);
        if (doneMessage !== undefined) showToast({ tone: "ok", text: doneMessage });
        return true;
      } catch {
        // The clipboard requires https.
        showToast({ tone: "bad", text: t("copyFailed") });
        return false;
      }
    },
    [t],
  );
}
