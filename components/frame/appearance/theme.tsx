"use client";

import { Monitor, Moon, Sun } from "lucide-react";
import { useTranslations } from "next-intl";
import { ThemeProvider, useTheme } from "next-themes";
import { type ReactNode, useSyncExternalStore } from "react";
import { createStore } from "zustand/vanilla";
import { IconButton } from "@/components/ui/controls/button";
import { useHydrated } from "@/components/ui/time";
import { type EmbedTheme } from "@/lib/contract/embed/embed-pages";

/** `embedded`: the host page's theme, which overrides the console's stored theme. */
export function Theme({ nonce, embedded, children }: { nonce?: string; embedded?: EmbedTheme; children: ReactNode }) {
  const activeTheme = useEmbedTheme(embedded);
  const hostTheme = activeTheme && {
    storageKey: "lightdesk.embedded-theme",
    forcedTheme: activeTheme === "system" ? undefined : activeTheme,
  };
  return (
    // The stylesheet sets color-scheme, since a style attribute would need a weaker content security policy.
    <ThemeProvider
      attribute="data-theme"
      defaultTheme="system"
      enableColorScheme={false}
      disableTransitionOnChange={false}
      nonce={nonce}
      {...hostTheme}
    >
      {children}
    </ThemeProvider>
  );
}

export const themes = ["system", "light", "dark"] as const;
const icons = { system: Monitor, light: Sun, dark: Moon };

export function ThemeSwitch() {
  const t = useTranslations("frame.theme");
  const { theme, setTheme } = useTheme();
  // The choice is stored in the browser; until it is read, the button shows the default.
  const selectedTheme = (useHydrated() && themes.find((name) => name === theme)) || "system";
  const Icon = icons[selectedTheme];
  const label = t("now", { theme: t(selectedTheme) });
  return (
    <IconButton
      icon={Icon}
      label={label}
      tone="quiet"
      onClick={() => setTheme(themes[(themes.indexOf(selectedTheme) + 1) % themes.length] ?? "system")}
    />
  );
}

/** The last theme that the host page has set. */
const themeStore = createStore<{ theme?: EmbedTheme }>(() => ({}));

export function setEmbedTheme(theme: EmbedTheme): void {
  themeStore.setState({ theme });
}

function useEmbedTheme(initialTheme: EmbedTheme | undefined): EmbedTheme | undefined {
  return (
    useSyncExternalStore(
      themeStore.subscribe,
      () => themeStore.getState().theme,
      () => undefined,
    ) ?? initialTheme
  );
}
