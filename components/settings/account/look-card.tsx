"use client";

import { useTranslations } from "next-intl";
import { useTheme } from "next-themes";
import { LanguageSwitch } from "@/components/frame/look/language-switch";
import { Card } from "@/components/ui/card";
import { FormField } from "@/components/ui/controls/form-field";
import { Select } from "@/components/ui/controls/select";
import { browserZone, browserZones, chooseZone, chosenZone } from "@/components/ui/time/time-zone";
import { useHydrated } from "@/components/ui/time/use-now";

const themes = ["system", "light", "dark"] as const;

/** Display settings of this browser; they are not stored with the member. */
export function LookCard() {
  const t = useTranslations("settings.profile");
  const theme = useTranslations("frame.theme");
  const language = useTranslations("frame.language");
  const { theme: chosen, setTheme } = useTheme();
  const isHydrated = useHydrated();
  return (
    <Card title={t("look")} bodyClassName="flex flex-col gap-3.5">
      <div className="flex flex-wrap gap-x-6 gap-y-3.5">
        <div className="flex flex-col gap-1">
          <span aria-hidden="true" className="font-medium">
            {language("label")}
          </span>
          <LanguageSwitch />
        </div>
        <FormField label={t("theme")}>
          {(control) => (
            <Select {...control} value={isHydrated ? chosen : "system"} onChange={({ target }) => setTheme(target.value)}>
              {themes.map((name) => (
                <option key={name} value={name}>
                  {theme(name)}
                </option>
              ))}
            </Select>
          )}
        </FormField>
        <FormField label={t("zone")}>
          {(control) => (
            <Select
              {...control}
              className="max-w-[300px]"
              value={isHydrated ? (chosenZone() ?? "") : ""}
              onChange={({ target }) => {
                // A reload, so that all times on the page are formatted again.
                if (chooseZone(target.value || undefined)) window.location.reload();
              }}
            >
              <option value="">{t("zoneBrowser", { zone: isHydrated ? browserZone() : "…" })}</option>
              {isHydrated
                ? browserZones().map((zone) => (
                    <option key={zone} value={zone}>
                      {zone}
                    </option>
                  ))
                : null}
            </Select>
          )}
        </FormField>
      </div>
      <p className="text-ink-3">{t("lookText")}</p>
    </Card>
  );
}
