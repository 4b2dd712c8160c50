"use client";

import { NextIntlClientProvider, useLocale, useMessages, useTimeZone } from "next-intl";
import { type ComponentProps, type ReactNode, useMemo } from "react";

type Sentences = NonNullable<ComponentProps<typeof NextIntlClientProvider>["messages"]>;

/** Adds a page's namespaces to those of the frame. */
export function PageMessages({ messages, children }: { messages: Sentences; children: ReactNode }) {
  const known = useMessages();
  const all = useMemo(() => ({ ...known, ...messages }), [known, messages]);
  return (
    <NextIntlClientProvider locale={useLocale()} timeZone={useTimeZone()} messages={all}>
      {children}
    </NextIntlClientProvider>
  );
}
