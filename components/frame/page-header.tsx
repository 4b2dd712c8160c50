"use client";

import { NextIntlClientProvider, useLocale, useMessages, useTimeZone } from "next-intl";
import { type ComponentProps, type ReactNode, useMemo } from "react";
import { useNumber } from "@/components/ui/time/use-clock";

type PageHeaderProps = {
  title: ReactNode;
  /** The page's place in the console: "Jobs /". */
  trail?: ReactNode;
  count?: number;
  /** Beside the title: a state, or the search field. */
  badge?: ReactNode;
  /** On the right: how old the data is, then the actions. */
  children?: ReactNode;
};

export function PageHeader({ title, trail, count, badge, children }: PageHeaderProps) {
  const number = useNumber();
  return (
    <header className="flex min-h-[52px] shrink-0 flex-wrap items-center gap-x-2.5 gap-y-1 border-b border-line bg-bg px-4 py-1.5 md:sticky md:top-0 md:z-20 md:px-5 md:has-[[role=menu]]:z-30">
      {/* `contents` leaves no gap where the link is hidden. */}
      {trail ? <span className="contents text-ink-3">{trail}</span> : null}
      <h1 className="text-lg font-semibold">{title}</h1>
      {count === undefined ? null : <span className="text-ink-3">{number(count)}</span>}
      {badge}
      <div className="ml-auto flex items-center gap-2.5">{children}</div>
    </header>
  );
}

type PageSkeletonProps = Pick<PageHeaderProps, "title" | "trail"> & {
  /** Announced once to screen readers. */
  label: string;
  /** Between the header and the content. */
  tools?: ReactNode;
  className?: string;
  children: ReactNode;
};

/** A page in its real size while it loads: its header, and placeholders for its content. */
export function PageSkeleton({ title, trail, label, tools, className, children }: PageSkeletonProps) {
  return (
    <>
      <PageHeader title={title} trail={trail} />
      {tools}
      <div role="status" aria-label={label} className={className}>
        {children}
      </div>
    </>
  );
}

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
