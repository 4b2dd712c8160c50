"use client";

import { Lock } from "lucide-react";
import { useTranslations } from "next-intl";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { type ReadOnlyView } from "@/lib/contract/console";

export function ReadOnlyNotice({ readOnly: { since, by, note } }: { readOnly: ReadOnlyView }) {
  const t = useTranslations("frame.readOnly");
  return (
    <p role="status" className="flex gap-2 border-b border-line bg-wait-soft px-4 py-2 md:px-5">
      <Lock aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-wait" />
      <span className="min-w-0 break-words">
        <strong className="font-semibold">{t("title")}</strong> {t.rich("text", { name: by, time: () => <RelativeTime ms={since} /> })}
        {note ? ` ${t("note", { note })}` : null}
      </span>
    </p>
  );
}
