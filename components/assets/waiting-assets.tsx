"use client";

import { useTranslations } from "next-intl";

/** "3 new": leads to the top, where they appear. */
export function WaitingAssets({ count }: { count: number }) {
  const t = useTranslations("assets.grid");
  if (count === 0) return null;
  return (
    <div className="pointer-events-none fixed inset-x-0 top-28 z-30 flex justify-center">
      <button
        type="button"
        onClick={() => window.scrollTo({ top: 0 })}
        className="pointer-events-auto rounded-full bg-accent px-3 py-1 font-medium text-accent-ink shadow-lg"
      >
        {t("waiting", { count })}
      </button>
    </div>
  );
}
