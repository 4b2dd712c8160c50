"use client";

import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent, useState } from "react";
import { Input } from "@/components/ui/input";

const TYPING_MS = 300;

/** Asks when the typing pauses. */
export function NameField({ name, onName }: { name: string; onName: (name: string) => void }) {
  const t = useTranslations("assets.filter");
  const [draft, setDraft] = useState(name);
  const [asked, setAsked] = useState(name);
  // Back and a pressed chip change the address without this field.
  if (name !== asked) {
    setAsked(name);
    setDraft(name);
  }
  const ask = useEffectEvent((text: string) => {
    setAsked(text);
    onName(text);
  });
  useEffect(() => {
    if (draft.trim() === name) return;
    const timer = setTimeout(() => ask(draft.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [draft, name]);
  return (
    <Input
      type="search"
      aria-label={t("name")}
      placeholder={t("namePlaceholder")}
      value={draft}
      maxLength={500}
      onChange={({ target }) => setDraft(target.value)}
      className="w-[150px] shrink-0 max-sm:w-[176px] 2xl:w-[220px]"
    />
  );
}
