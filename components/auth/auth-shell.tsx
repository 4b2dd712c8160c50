"use client";

import { type ReactNode, useEffect } from "react";
import { LanguageSwitch } from "@/components/frame/appearance/language-switch";
import { ThemeSwitch } from "@/components/frame/appearance/theme";
import { broadcastConfirmation } from "@/lib/browser/confirm-identity";

export function AuthShell({ product, title, text, children }: { product: string; title: string; text?: ReactNode; children: ReactNode }) {
  return (
    <div className="flex min-h-dvh flex-col">
      <header className="flex items-center justify-between px-5 py-3">
        <span className="font-semibold">{product}</span>
        <div className="flex items-center gap-2">
          <LanguageSwitch />
          <ThemeSwitch />
        </div>
      </header>
      <main className="mx-auto flex w-full max-w-[360px] flex-1 flex-col justify-center gap-5 px-5 pb-24">
        <div>
          <h1 className="text-[20px] font-semibold">{title}</h1>
          {text ? <div className="mt-1 text-ink-2">{text}</div> : null}
        </div>
        {children}
      </main>
    </div>
  );
}

/** Notifies other tabs and tries to close this one. Browsers close only tabs opened by scripts, so the page also asks the user to close it. */
export function BroadcastConfirmation() {
  useEffect(() => {
    broadcastConfirmation();
    window.close();
  }, []);
  return null;
}
