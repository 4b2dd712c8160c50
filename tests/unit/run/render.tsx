import { render } from "@testing-library/react";
import { NextIntlClientProvider } from "next-intl";
import { type ReactNode } from "react";
import { SWRConfig } from "swr";
import * as messages from "@/lib/messages/en";

/** With the product's messages and a new cache, so that tests don't share responses. */
export function inPage(page: ReactNode) {
  return (
    <NextIntlClientProvider locale="en" timeZone="UTC" now={new Date(0)} messages={messages}>
      <SWRConfig value={{ provider: () => new Map() }}>{page}</SWRConfig>
    </NextIntlClientProvider>
  );
}

export function renderPage(page: ReactNode) {
  return render(inPage(page));
}
