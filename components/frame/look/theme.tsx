"use client";

import { ThemeProvider } from "next-themes";
import { type ReactNode } from "react";
import { type EmbedTheme } from "@/lib/contract/embed/embed-pages";
import { useEmbedTheme } from "./embed-theme";

/** `embedded`: the host page's theme, which takes precedence over what this browser stores for the console. */
export function Theme({ nonce, embedded, children }: { nonce?: string; embedded?: EmbedTheme; children: ReactNode }) {
  const ofHost = useEmbedTheme(embedded);
  const own = ofHost && { storageKey: "lightdesk.embedded-theme", forcedTheme: ofHost === "system" ? undefined : ofHost };
  return (
    // The stylesheet sets color-scheme itself, as a style attribute would need a less strict content security policy.
    <ThemeProvider
      attribute="data-theme"
      defaultTheme="system"
      enableColorScheme={false}
      disableTransitionOnChange={false}
      nonce={nonce}
      {...own}
    >
      {children}
    </ThemeProvider>
  );
}
