// Components as the pages render them: with every sentence, a fixed clock and a zone.
import { render, type RenderResult } from "@testing-library/react";
import { NextIntlClientProvider } from "next-intl";
import { type ReactNode } from "react";
import { messages as english } from "@/lib/messages/en";
import { messages as chinese } from "@/lib/messages/zh-CN";

const NOW = new Date("2026-03-01T12:00:00Z");

/** For `rerender`, which replaces the whole tree. */
type Locale = "en" | "zh-CN";
const messagesOf = { en: english, "zh-CN": chinese };

export function inApp(children: ReactNode, locale: Locale = "en"): ReactNode {
  return (
    <NextIntlClientProvider locale={locale} timeZone="UTC" now={NOW} messages={messagesOf[locale]}>
      {children}
    </NextIntlClientProvider>
  );
}

export function renderInApp(children: ReactNode, locale?: Locale): RenderResult {
  return render(inApp(children, locale));
}
