"use client";

import { X } from "lucide-react";
import { useTranslations } from "next-intl";
import { useStore } from "zustand";
import { dismissToast, holdToasts, toastStore } from "./toast-store";
import { ToneIcon } from "./tone-icon";

/** Used once, in the frame. The region exists before the first message, as otherwise a screen reader would not announce it. */
export function Toasts() {
  const t = useTranslations("common");
  const toasts = useStore(toastStore);
  return (
    <div role="status" className="pointer-events-none fixed inset-x-0 bottom-16 z-50 flex flex-col items-center gap-2 px-4 sm:bottom-14">
      {toasts.map(({ id, tone, text, action }) => (
        <div
          key={id}
          onPointerEnter={() => holdToasts(true)}
          onPointerLeave={() => holdToasts(false)}
          onFocus={() => holdToasts(true)}
          onBlur={() => holdToasts(false)}
          className="pointer-events-auto flex max-w-full items-center gap-3 rounded-lg bg-ink px-3.5 py-2 text-bg shadow-lg"
        >
          <ToneIcon tone={tone} />
          <span className="min-w-0">{text}</span>
          {action ? (
            <button
              type="button"
              className="font-semibold underline underline-offset-2"
              onClick={() => {
                dismissToast(id);
                action.run();
              }}
            >
              {action.label}
            </button>
          ) : null}
          <button type="button" aria-label={t("dismiss")} onClick={() => dismissToast(id)} className="rounded-sm p-0.5">
            <X aria-hidden="true" className="size-3.5" />
          </button>
        </div>
      ))}
    </div>
  );
}
