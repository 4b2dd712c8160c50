import { render } from "@testing-library/react";
import { NextIntlClientProvider } from "next-intl";
import { type ReactNode } from "react";
import { SWRConfig } from "swr";
import * as messages from "@/lib/messages/en";

/** Wraps a page in the app's messages and a new cache, so that tests don't share responses. */
export function wrapInProviders(page: ReactNode) {
  return (
    <NextIntlClientProvider locale="en" timeZone="UTC" now={new Date(0)} messages={messages}>
      <SWRConfig value={{ provider: () => new Map() }}>{page}</SWRConfig>
    </NextIntlClientProvider>
  );
}

export function renderPage(page: ReactNode) {
  return render(wrapInProviders(page));
}
