"use client";

import { Monitor, Moon, Sun } from "lucide-react";
import { useTranslations } from "next-intl";
import { useTheme } from "next-themes";
import { Button } from "@/components/ui/controls/button";
import { useHydrated } from "@/components/ui/time/use-now";

const themes = ["system", "light", "dark"] as const;
const icons = { system: Monitor, light: Sun, dark: Moon };

/** Cycles through system, light, dark. */
export function ThemeSwitch() {
  const t = useTranslations("frame.theme");
  const { theme, setTheme } = useTheme();
  // The choice is stored in the browser; until it is read, the button shows the default in the same size.
  const chosen = (useHydrated() && themes.find((name) => name === theme)) || "system";
  const Icon = icons[chosen];
  const label = t("now", { theme: t(chosen) });
  return (
    <Button
      tone="quiet"
      size="icon"
      title={label}
      aria-label={label}
      onClick={() => setTheme(themes[(themes.indexOf(chosen) + 1) % themes.length] ?? "system")}
    >
      <Icon aria-hidden="true" className="size-4" />
    </Button>
  );
}
