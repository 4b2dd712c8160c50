// Renders components like the pages do, with all messages, a fixed clock and a time zone.
import { render, type RenderResult } from "@testing-library/react";
import { NextIntlClientProvider } from "next-intl";
import { type ReactNode } from "react";
import { messagesByLanguage } from "@/lib/server/i18n/messages";
import { type Language } from "@/lib/shared/languages";

const NOW = new Date("2026-03-01T12:00:00Z");

/** Wraps children for `rerender`, which replaces the whole tree. */
export function wrapInApp(children: ReactNode, locale: Language = "en"): ReactNode {
  return (
    <NextIntlClientProvider locale={locale} timeZone="UTC" now={NOW} messages={messagesByLanguage[locale]}>
      {children}
    </NextIntlClientProvider>
  );
}

export function renderInApp(children: ReactNode, locale?: Language): RenderResult {
  return render(wrapInApp(children, locale));
}
