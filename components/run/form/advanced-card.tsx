import { useTranslations } from "next-intl";
import { useId, useState } from "react";
import { CheckList } from "@/components/ui/controls/check-list";
import { Textarea } from "@/components/ui/controls/fields";
import { type Advanced } from "../workflow/opened-workflow";
import { extraLimits, parseExtraData } from "../workflow/workflow-contents";

export const EXTRA_FIELD_ID = "run-extra-data";

type Output = { id: string; title: string };
type AdvancedCardProps = { outputs: readonly Output[]; advanced: Advanced; onChange: (advanced: Advanced) => void };

/** Rarely needed settings, collapsed: which outputs to run, and extra_data. */
export function AdvancedCard({ outputs, advanced, onChange }: AdvancedCardProps) {
  const t = useTranslations("run.advanced");
  const noteId = useId();
  const extra = advanced.extra ?? "";
  const extraResult = parseExtraData(extra);
  const [isOpen, setOpen] = useState(advanced.targets !== undefined || !extraResult.ok);
  const ids = outputs.map(({ id }) => id);
  const selectedIds = advanced.targets ?? ids;
  const chooseOutputs = (nextIds: readonly string[]) => {
    const targets = ids.filter((id) => nextIds.includes(id));
    // Selecting all is the same as having no targets.
    onChange({ ...advanced, targets: targets.length === ids.length ? undefined : targets });
  };
  return (
    <details
      className="rounded-lg border border-line bg-surface"
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary className="cursor-pointer px-3.5 py-2 font-semibold">{t("title")}</summary>
      <div className="flex flex-col gap-3.5 border-t border-line p-3.5">
        {outputs.length > 1 ? (
          <fieldset>
            <legend className="font-semibold">{t("targets")}</legend>
            <p className="text-ink-2">{t("targetsNote")}</p>
            <CheckList options={ids} selected={selectedIds} onChange={chooseOutputs}>
              {(id) => (
                <>
                  {outputs.find((output) => output.id === id)?.title} <span className="text-ink-3">#{id}</span>
                </>
              )}
            </CheckList>
            {selectedIds.length === 0 ? (
              <p role="alert" className="text-bad">
                {t("noTarget")}
              </p>
            ) : null}
          </fieldset>
        ) : null}
        <div>
          <label htmlFor={EXTRA_FIELD_ID} className="font-semibold">
            {t("extra")}
          </label>
          <p id={noteId} className="text-ink-2">
            {t("extraNote")}
          </p>
          <Textarea
            id={EXTRA_FIELD_ID}
            rows={4}
            spellCheck={false}
            autoComplete="off"
            value={extra}
            onChange={({ target }) => onChange({ ...advanced, extra: target.value })}
            aria-describedby={noteId}
            aria-invalid={!extraResult.ok || undefined}
            className="mt-1 font-mono text-sm"
          />
          {extraResult.ok ? null : (
            <p role="alert" className="text-bad">
              {t(extraResult.code, { characters: extraLimits.characters, depth: extraLimits.depth })}
            </p>
          )}
        </div>
      </div>
    </details>
  );
}
