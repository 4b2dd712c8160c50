import { useTranslations } from "next-intl";
import { useId } from "react";
import { Checkbox } from "@/components/ui/controls/checkbox";
import { Textarea } from "@/components/ui/controls/textarea";
import { extraLimits, readExtra } from "./extra-data";
import { type Advanced } from "../run-state";

export const EXTRA_FIELD = "run-extra-data";

type Output = { id: string; title: string };
type AdvancedCardProps = { outputs: readonly Output[]; advanced: Advanced; onChange: (advanced: Advanced) => void };

/** What few need, behind one press: which outputs to run, and extra_data. */
export function AdvancedCard({ outputs, advanced, onChange }: AdvancedCardProps) {
  const t = useTranslations("run.advanced");
  const note = useId();
  const extra = advanced.extra ?? "";
  const reading = readExtra(extra);
  const chosen = advanced.targets ?? outputs.map(({ id }) => id);
  const toggle = (id: string) => {
    const next = outputs.map((output) => output.id).filter((other) => (other === id ? !chosen.includes(id) : chosen.includes(other)));
    // All of them is what a run without targets does.
    onChange({ ...advanced, targets: next.length === outputs.length ? undefined : next });
  };
  return (
    <details className="rounded-lg border border-line bg-surface" open={advanced.targets !== undefined || !reading.ok || undefined}>
      <summary className="cursor-pointer px-3.5 py-2 font-semibold">{t("title")}</summary>
      <div className="flex flex-col gap-3.5 border-t border-line p-3.5">
        {outputs.length > 1 ? (
          <fieldset>
            <legend className="font-semibold">{t("targets")}</legend>
            <p className="text-ink-2">{t("targetsNote")}</p>
            {outputs.map(({ id, title }) => (
              <label key={id} className="flex min-h-[28px] items-center gap-2">
                <Checkbox checked={chosen.includes(id)} onChange={() => toggle(id)} />
                {title} <span className="text-ink-3">#{id}</span>
              </label>
            ))}
            {chosen.length === 0 ? (
              <p role="alert" className="text-bad">
                {t("noTarget")}
              </p>
            ) : null}
          </fieldset>
        ) : null}
        <div>
          <label htmlFor={EXTRA_FIELD} className="font-semibold">
            {t("extra")}
          </label>
          <p id={note} className="text-ink-2">
            {t("extraNote")}
          </p>
          <Textarea
            id={EXTRA_FIELD}
            rows={4}
            spellCheck={false}
            autoComplete="off"
            value={extra}
            onChange={({ target }) => onChange({ ...advanced, extra: target.value })}
            aria-describedby={note}
            aria-invalid={!reading.ok || undefined}
            className="mt-1 font-mono text-sm"
          />
          {reading.ok ? null : (
            <p role="alert" className="text-bad">
              {t(reading.why, { characters: extraLimits.characters, depth: extraLimits.depth })}
            </p>
          )}
        </div>
      </div>
    </details>
  );
}
