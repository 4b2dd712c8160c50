"use client";

import { NextIntlClientProvider, useLocale, useMessages, useTimeZone } from "next-intl";
import { type ComponentProps, type ReactNode, useMemo } from "react";
import { useNumberFormat } from "@/components/ui/time";

type PageHeaderProps = {
  title: ReactNode;
  /** The breadcrumbs: "Jobs /". */
  trail?: ReactNode;
  count?: number;
  badge?: ReactNode;
  children?: ReactNode;
};

export function PageHeader({ title, trail, count, badge, children }: PageHeaderProps) {
  const formatNumber = useNumberFormat();
  return (
    <header className="flex min-h-[52px] shrink-0 flex-wrap items-center gap-x-2.5 gap-y-1 border-b border-line bg-bg px-4 py-1.5 md:sticky md:top-0 md:z-20 md:px-5 md:has-[[role=menu]]:z-30">
      {/* `contents` leaves no gap if the link is hidden. */}
      {trail ? <span className="contents text-ink-3">{trail}</span> : null}
      <h1 className="text-lg font-semibold">{title}</h1>
      {count === undefined ? null : <span className="text-ink-3">{formatNumber(count)}</span>}
      {badge}
      <div className="ml-auto flex items-center gap-2.5">{children}</div>
    </header>
  );
}

type Messages = NonNullable<ComponentProps<typeof NextIntlClientProvider>["messages"]>;

export function PageMessages({ messages, children }: { messages: Messages; children: ReactNode }) {
  const frameMessages = useMessages();
  const allMessages = useMemo(() => ({ ...frameMessages, ...messages }), [frameMessages, messages]);
  return (
    <NextIntlClientProvider locale={useLocale()} timeZone={useTimeZone()} messages={allMessages}>
      {children}
    </NextIntlClientProvider>
  );
}
