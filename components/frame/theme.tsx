"use client";

import { ThemeProvider } from "next-themes";
import { type ReactNode } from "react";

export function Theme({ nonce, children }: { nonce?: string; children: ReactNode }) {
  return (
    // The stylesheet sets color-scheme itself; a style attribute would need a wider content policy.
    <ThemeProvider attribute="data-theme" defaultTheme="system" enableColorScheme={false} disableTransitionOnChange={false} nonce={nonce}>
      {children}
    </ThemeProvider>
  );
}
