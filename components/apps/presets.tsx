import { useTranslations } from "next-intl";
import { type FormEvent, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { Checkbox, Input, Select } from "@/components/ui/controls/fields";
import { FormField } from "@/components/ui/controls/form-field";
import { Dialog, DialogFoot } from "@/components/ui/dialog";
import { callApi } from "@/lib/browser/api";
import { usePoll } from "@/lib/browser/poll/use-poll";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type AppField, type AppPreset } from "@/lib/contract/apps/app";
import { type FieldValues, toSend, valuesFrom } from "./app-values";
import { appApi } from "./apps-address";

type PresetsAnswer = { presets: AppPreset[] };
const presetsIn = ({ presets }: PresetsAnswer) => presets;
const never = () => "final" as const;
const [USUAL, LAST] = ["usual", "last"];

type PresetsProps = {
  app: string;
  inputs: readonly AppField[];
  values: FieldValues;
  /** The values of the member's last run. */
  last?: FieldValues;
  onFill: (values: FieldValues) => void;
};

/** Fills the form: with the app's own values, those of the last run, or a saved preset. */
export function Presets({ app, inputs, values, last, onFill }: PresetsProps) {
  const t = useTranslations("apps.presets");
  const poll = usePoll(appApi(app, "presets"), { read: presetsIn, motion: never });
  const [isSaving, setSaving] = useState(false);
  const presets = poll.value ?? [];
  if (inputs.length === 0) return null;
  function choose(chosen: string) {
    if (chosen === USUAL) return onFill({});
    if (chosen === LAST) return last && onFill(last);
    const preset = presets.find(({ id }) => id === chosen);
    if (preset) onFill(valuesFrom(inputs, preset.inputs));
  }
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Select aria-label={t("fill")} value="" onChange={({ target }) => choose(target.value)} className="min-w-0 flex-1">
        <option value="" disabled>
          {t("fill")}
        </option>
        <option value={USUAL}>{t("usual")}</option>
        {last ? <option value={LAST}>{t("last")}</option> : null}
        {presets.map(({ id, name, isTeam }) => (
          <option key={id} value={id}>
            {isTeam ? t("ofTeam", { name }) : name}
          </option>
        ))}
      </Select>
      <Button onClick={() => setSaving(true)}>{t("save")}</Button>
      {poll.failure ? <FailureMessage failure={poll.failure} onRetry={() => void poll.refresh()} className="w-full" /> : null}
      <Dialog isOpen={isSaving} onClose={() => setSaving(false)} title={t("title")}>
        <PresetForm
          app={app}
          presets={presets.filter(({ canChange }) => canChange)}
          given={toSend(inputs, values)}
          onChanged={poll.refresh}
          onClose={() => setSaving(false)}
        />
      </Dialog>
    </div>
  );
}

type PresetFormProps = {
  app: string;
  presets: readonly AppPreset[];
  given: Record<string, unknown>;
  onChanged: () => Promise<void>;
  onClose: () => void;
};

/** An existing preset of the same name is replaced, and the button says so. */
function PresetForm({ app, presets, given, onChanged, onClose }: PresetFormProps) {
  const t = useTranslations("apps.presets");
  const common = useTranslations("common");
  const [name, setName] = useState("");
  const [isTeam, setTeam] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const same = presets.find((preset) => preset.name === name.trim());
  async function call(method: "POST" | "PUT" | "DELETE", id?: string): Promise<boolean> {
    setBusy(true);
    setFailure(undefined);
    const json = method === "DELETE" ? undefined : { name: name.trim(), inputs: given, isTeam };
    const done = await callApi(id === undefined ? appApi(app, "presets") : appApi(app, "presets", id), { method, json });
    if (done.ok) await onChanged();
    else setFailure(done.failure);
    setBusy(false);
    return done.ok;
  }
  async function save(event: FormEvent) {
    event.preventDefault();
    event.stopPropagation();
    if (name.trim() !== "" && !isBusy && (await call(same ? "PUT" : "POST", same?.id))) onClose();
  }
  return (
    <form className="flex flex-col gap-3 text-ink" onSubmit={(event) => void save(event)}>
      <FormField label={t("name")}>
        {(control) => <Input {...control} autoFocus maxLength={80} value={name} onChange={({ target }) => setName(target.value)} />}
      </FormField>
      <label className="flex items-center gap-2">
        <Checkbox checked={isTeam} onChange={({ target }) => setTeam(target.checked)} />
        {t("team")}
      </label>
      {presets.length > 0 ? (
        <ul aria-label={t("saved")} className="flex max-h-52 flex-col overflow-y-auto rounded-md border border-line">
          {presets.map((preset) => (
            <li key={preset.id} className="flex items-center gap-2 border-b border-line px-2.5 py-1 last:border-b-0">
              <span className="min-w-0 flex-1 truncate">{preset.name}</span>
              <Button
                size="small"
                tone="quiet"
                busy={isBusy}
                aria-label={t("removeOf", { name: preset.name })}
                onClick={() => void call("DELETE", preset.id)}
              >
                {t("remove")}
              </Button>
            </li>
          ))}
        </ul>
      ) : null}
      {failure ? <FailureMessage failure={failure} /> : null}
      <DialogFoot>
        <Button onClick={onClose}>{common("cancel")}</Button>
        <Button type="submit" tone="primary" busy={isBusy} disabled={name.trim() === ""}>
          {t(same ? "replace" : "act")}
        </Button>
      </DialogFoot>
    </form>
  );
}
