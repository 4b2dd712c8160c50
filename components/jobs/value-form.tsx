"use client";

import { useTranslations } from "next-intl";
import { Button } from "@/components/ui/button";
import { FormField } from "@/components/ui/form-field";
import { Input } from "@/components/ui/input";

type ValueFormProps = { isFull: boolean; onAdd: (value: { node: string; input: string; label: string }) => void };

/** Names an input of a node, for a column of its own. */
export function ValueForm({ isFull, onAdd }: ValueFormProps) {
  const t = useTranslations("jobs.columns");
  return (
    <form
      className="mt-3 border-t border-line pt-3"
      onSubmit={(event) => {
        event.preventDefault();
        const data = new FormData(event.currentTarget);
        const [node = "", input = "", label = ""] = ["node", "input", "label"].map((name) => String(data.get(name) ?? "").trim());
        if (node === "" || input === "" || isFull) return;
        onAdd({ node, input, label });
        event.currentTarget.reset();
      }}
    >
      <p className="font-medium text-ink">{t("value")}</p>
      <p className="text-sm text-ink-3">{t("valueHint")}</p>
      <div className="mt-2 grid grid-cols-[80px_1fr_1fr] gap-2">
        {(["node", "input", "label"] as const).map((name) => (
          <FormField key={name} label={t(name)}>
            {(control) => (
              <Input {...control} name={name} required={name !== "label"} maxLength={name === "label" ? 60 : 100} autoComplete="off" />
            )}
          </FormField>
        ))}
      </div>
      <Button type="submit" disabled={isFull} className="mt-2">
        {t("add")}
      </Button>
    </form>
  );
}
