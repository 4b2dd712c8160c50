import { useTranslations } from "next-intl";
import { type FormEvent, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { CheckField, InputField, Options, Select } from "@/components/ui/controls/fields";
import { Dialog, FormFooter } from "@/components/ui/dialog";
import { callApi } from "@/lib/browser/api";
import { useReadOnce } from "@/lib/browser/live/use-live";
import { useRequests } from "@/lib/browser/use-read";
import { type AppField, type AppPreset } from "@/lib/contract/apps/app";
import { type FieldValues, toFormValues, toRunInputs } from "./app-values";
import { getAppApiPath } from "./apps-urls";

type PresetsResponse = { presets: AppPreset[] };
const getPresets = ({ presets }: PresetsResponse) => presets;
const [DEFAULTS_OPTION, LAST_RUN_OPTION] = ["own", "last"];

type PresetsProps = {
  app: string;
  inputs: readonly AppField[];
  values: FieldValues;
  lastValues?: FieldValues;
  onFill: (values: FieldValues) => void;
};

/** Fills the form with the app's defaults, the last run's values, or a saved preset. */
export function Presets({ app, inputs, values, lastValues, onFill }: PresetsProps) {
  const t = useTranslations("apps.presets");
  const getLabel = usePresetLabel();
  const loadedPresets = useReadOnce(getAppApiPath(app, "presets"), getPresets);
  const [isSaving, setSaving] = useState(false);
  const presets = loadedPresets.value ?? [];
  if (inputs.length === 0) return null;
  function applyPreset(selectedPreset: string) {
    if (selectedPreset === DEFAULTS_OPTION) return onFill({});
    if (selectedPreset === LAST_RUN_OPTION) return lastValues && onFill(lastValues);
    const preset = presets.find(({ id }) => id === selectedPreset);
    if (preset) onFill(toFormValues(inputs, preset.inputs));
  }
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Select aria-label={t("fill")} value="" onChange={({ target }) => applyPreset(target.value)} className="min-w-0 flex-1">
        <option value="" disabled>
          {t("fill")}
        </option>
        <option value={DEFAULTS_OPTION}>{t("own")}</option>
        {lastValues ? <option value={LAST_RUN_OPTION}>{t("last")}</option> : null}
        <Options of={presets.map((preset) => [preset.id, getLabel(preset)])} />
      </Select>
      <Button onClick={() => setSaving(true)}>{t("save")}</Button>
      {loadedPresets.failure ? (
        <FailureMessage failure={loadedPresets.failure} onRetry={() => void loadedPresets.refresh()} className="w-full" />
      ) : null}
      <Dialog isOpen={isSaving} onClose={() => setSaving(false)} title={t("title")}>
        <PresetForm
          app={app}
          presets={presets.filter(({ canChange }) => canChange)}
          values={toRunInputs(inputs, values)}
          onChanged={loadedPresets.refresh}
          onClose={() => setSaving(false)}
        />
      </Dialog>
    </div>
  );
}

function usePresetLabel(): (preset: AppPreset) => string {
  const t = useTranslations("apps.presets");
  return ({ name, isTeam }) => (isTeam ? t("ofTeam", { name }) : name);
}

type PresetFormProps = {
  app: string;
  presets: readonly AppPreset[];
  values: Record<string, unknown>;
  onChanged: () => Promise<void>;
  onClose: () => void;
};

/** Saves the values as a preset. Replaces a preset of the same name only if both are personal or both belong to the team. */
function PresetForm({ app, presets, values, onChanged, onClose }: PresetFormProps) {
  const t = useTranslations("apps.presets");
  const getLabel = usePresetLabel();
  const [name, setName] = useState("");
  const [isTeam, setTeam] = useState(false);
  const { busyWith, failure, send } = useRequests<"change">();
  const isBusy = busyWith !== undefined;
  const existingPreset = presets.find((preset) => preset.name === name.trim() && preset.isTeam === isTeam);
  async function changePreset(method: "POST" | "PUT" | "DELETE", id?: string): Promise<boolean> {
    const json = method === "DELETE" ? undefined : { name: name.trim(), inputs: values, isTeam };
    const result = await send(
      "change",
      callApi(id === undefined ? getAppApiPath(app, "presets") : getAppApiPath(app, "presets", id), { method, json }),
    );
    if (result.ok) await onChanged();
    return result.ok;
  }
  async function save(event: FormEvent) {
    event.preventDefault();
    event.stopPropagation();
    if (name.trim() !== "" && !isBusy && (await changePreset(existingPreset ? "PUT" : "POST", existingPreset?.id))) onClose();
  }
  return (
    <form className="flex flex-col gap-3 text-ink" onSubmit={(event) => void save(event)}>
      <InputField label={t("name")} autoFocus maxLength={80} value={name} onChange={({ target }) => setName(target.value)} />
      <CheckField label={t("team")} checked={isTeam} onChange={({ target }) => setTeam(target.checked)} />
      {presets.length > 0 ? (
        <ul aria-label={t("saved")} className="flex max-h-52 flex-col overflow-y-auto rounded-md border border-line">
          {presets.map((preset) => (
            <li key={preset.id} className="flex items-center gap-2 border-b border-line px-2.5 py-1 last:border-b-0">
              <span className="min-w-0 flex-1 truncate">{getLabel(preset)}</span>
              <Button
                size="small"
                tone="quiet"
                busy={isBusy}
                aria-label={t("removeOf", { name: getLabel(preset) })}
                onClick={() => void changePreset("DELETE", preset.id)}
              >
                {t("remove")}
              </Button>
            </li>
          ))}
        </ul>
      ) : null}
      {failure ? <FailureMessage failure={failure} /> : null}
      <FormFooter onClose={onClose} busy={isBusy} disabled={name.trim() === ""} label={t(existingPreset ? "replace" : "act")} />
    </form>
  );
}
