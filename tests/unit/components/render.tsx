// Components as the pages render them: with every sentence, a fixed clock and a zone.
import { render, type RenderResult } from "@testing-library/react";
import { NextIntlClientProvider } from "next-intl";
import { type ReactNode } from "react";
import { messages } from "@/lib/messages/en";

const NOW = new Date("2026-03-01T12:00:00Z");

/** For `rerender`, which replaces the whole tree. */
export function inApp(children: ReactNode): ReactNode {
  return (
    <NextIntlClientProvider locale="en" timeZone="UTC" now={NOW} messages={messages}>
      {children}
    </NextIntlClientProvider>
  );
}

export function renderInApp(children: ReactNode): RenderResult {
  return render(inApp(children));
}
