"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import { cn } from "./cn";
import { showToast } from "./toast-store";

type CopyableIdProps = {
  id: string;
  /** How many characters are shown; all of them where it is left out. */ shown?: number;
  className?: string;
};

/** A short id in mono; the whole id on hover, and in the clipboard on press. */
export function CopyableId({ id, shown, className }: CopyableIdProps) {
  const t = useTranslations("common");
  const [isCopied, setCopied] = useState(false);
  async function copy() {
    try {
      await navigator.clipboard.writeText(id);
      setCopied(true);
      setTimeout(() => setCopied(false), 1_500);
    } catch {
      // The clipboard needs a secure page; on plain http in a local network there is none.
      showToast({ tone: "bad", text: t("copyFailed") });
    }
  }
  return (
    <button
      type="button"
      title={id}
      aria-label={t("copy", { id })}
      onClick={() => void copy()}
      className={cn("rounded-sm font-mono text-sm hover:bg-off-soft", isCopied && "text-ok", className)}
    >
      {id.slice(0, shown)}
    </button>
  );
}
