import { Dices } from "lucide-react";
import { useTranslations } from "next-intl";
import { Button } from "@/components/ui/controls/button";
import { Checkbox } from "@/components/ui/controls/checkbox";
import { type Control } from "../form-model";
import { randomSeed } from "../seeds";

type SeedControlProps = {
  name: string;
  control: Control;
  isRandomised: boolean;
  onSeed: (value: number) => void;
  onToggle: () => void;
};

/** Beside a seed's number: draw a new one now, or one with every run. */
export function SeedControl({ name, control, isRandomised, onSeed, onToggle }: SeedControlProps) {
  const t = useTranslations("run.seed");
  return (
    <span className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1">
      <Button size="small" aria-label={t("newOf", { name })} onClick={() => onSeed(randomSeed(control))}>
        <Dices aria-hidden="true" className="size-3.5" />
        {t("new")}
      </Button>
      <label className="flex items-center gap-1.5 text-ink-2">
        <Checkbox checked={isRandomised} onChange={onToggle} />
        {t("everyRun")}
      </label>
    </span>
  );
}
