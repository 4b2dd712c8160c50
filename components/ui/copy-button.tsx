"use client";

import { Check, Copy } from "lucide-react";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { cn } from "./cn";
import { showToast } from "./toast-store";

type CopyButtonProps = { text: string; label: string; className?: string };

export function CopyButton({ text, label, className }: CopyButtonProps) {
  const t = useTranslations("common");
  const [isCopied, setCopied] = useState(false);
  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 1_500);
    } catch {
      // The clipboard needs a secure page; on plain http in a local network there is none.
      showToast({ tone: "bad", text: t("copyFailed") });
    }
  }
  const Icon = isCopied ? Check : Copy;
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      onClick={() => void copy()}
      className={cn("grid size-6 shrink-0 place-items-center rounded-sm text-ink-3 hover:bg-off-soft hover:text-ink", className)}
    >
      <Icon aria-hidden="true" className="size-3.5" />
    </button>
  );
}
