import { useTranslations } from "next-intl";
import { type FormEvent, useRef, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { faultyField } from "@/components/frame/failure/fault-owner";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { Input } from "@/components/ui/controls/fields";
import { FormField } from "@/components/ui/controls/form-field";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type NewRunner, type Runner, type RunnerCheck, type RunnerSaved } from "@/lib/contract/runners/runners";
import { readTags } from "@/lib/shared/text";
import { CheckNote } from "../outcome";

export function runnerPath(id?: string, part?: "state"): `/api/console/runners${string}` {
  return `/api/console/runners${id === undefined ? "" : `/${encodeURIComponent(id)}`}${part ? `/${part}` : ""}`;
}

type RunnerFormProps = {
  /** Absent for a new one. */
  runner?: Runner;
  onSaved: (runner: Runner) => void;
  onClose: () => void;
};

const fields = ["address", "label", "tags", "slots"] as const;
type Act = "check" | "save" | "keep";

/** Closes once it is saved; the server at the address is checked first. */
export function RunnerForm({ runner, onSaved, onClose }: RunnerFormProps) {
  const t = useTranslations("runners.form");
  const words = useTranslations("runners");
  const common = useTranslations("common");
  const form = useRef<HTMLFormElement>(null);
  const [busyWith, setBusyWith] = useState<Act>();
  const [failure, setFailure] = useState<ApiFailure>();
  const [check, setCheck] = useState<RunnerCheck>();
  const [isRefused, setRefused] = useState(false);
  const isBuiltIn = runner?.address === null;

  async function run(act: Act) {
    if (!form.current?.reportValidity()) return;
    const given = readForm(new FormData(form.current), isBuiltIn);
    setBusyWith(act);
    setFailure(undefined);
    if (act !== "keep") setCheck(undefined);
    setRefused(false);
    if (act === "check") {
      const asked = await callApi<{ check: RunnerCheck }>(runnerPath("check"), { method: "POST", json: { address: given.address } });
      if (asked.ok) setCheck(asked.value.check);
      else setFailure(asked.failure);
    } else {
      const json = runner ? given : { ...given, keep: act === "keep" };
      const saved = await callApi<RunnerSaved>(runnerPath(runner?.id), { method: runner ? "PATCH" : "POST", json });
      if (!saved.ok) setFailure(saved.failure);
      else if (saved.value.runner) return onSaved(saved.value.runner);
      else {
        setCheck({ ok: false, ...saved.value.problem });
        setRefused(true);
      }
    }
    setBusyWith(undefined);
  }
  const isTaken = failure?.code === "CONFLICT";
  const field = isTaken ? "address" : failure && faultyField(failure, fields);
  const wrong = (name: (typeof fields)[number]) => (field === name ? t(isTaken ? "wrong.taken" : `wrong.${name}`) : undefined);
  return (
    <Card title={runner ? t("changeTitle", { name: runner.label }) : t("addTitle")}>
      <form
        ref={form}
        method="post"
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          void run("save");
        }}
        className="flex max-w-[520px] flex-col gap-3.5"
        autoComplete="off"
      >
        {isBuiltIn ? null : (
          <FormField label={words("address")} hint={t("addressHint")} error={wrong("address")}>
            {(control) => (
              <Input
                {...control}
                name="address"
                inputMode="url"
                autoCapitalize="none"
                spellCheck={false}
                required
                autoFocus
                maxLength={2000}
                defaultValue={runner?.address ?? ""}
                placeholder="http://"
              />
            )}
          </FormField>
        )}
        <FormField label={t("label")} hint={t("labelHint")} error={wrong("label")}>
          {(control) => (
            <Input
              {...control}
              name="label"
              autoFocus={isBuiltIn}
              required={runner !== undefined}
              maxLength={60}
              defaultValue={runner?.label}
              placeholder={t("labelPlaceholder")}
            />
          )}
        </FormField>
        <FormField label={words("tags")} hint={t("tagsHint")} error={wrong("tags")}>
          {(control) => <Input {...control} name="tags" maxLength={1000} defaultValue={runner?.tags.join(", ")} />}
        </FormField>
        {isBuiltIn ? null : (
          <FormField label={t("slots")} hint={t("slotsHint")} error={wrong("slots")}>
            {(control) => (
              <Input {...control} name="slots" type="number" min={1} max={16} required defaultValue={runner?.slots ?? 1} className="w-24" />
            )}
          </FormField>
        )}
        {failure && !field ? <FailureMessage failure={failure} /> : null}
        {check ? <CheckNote check={check} /> : null}
        {isRefused ? <p className="text-ink-2">{t(runner ? "notChanged" : "notAdded")}</p> : null}
        <div className="flex flex-wrap gap-2">
          <Button type="submit" tone="primary" busy={busyWith === "save"} disabled={busyWith !== undefined && busyWith !== "save"}>
            {runner ? t(busyWith === "save" ? "saving" : "save") : t(busyWith === "save" ? "adding" : "submit")}
          </Button>
          {isBuiltIn ? null : (
            <Button busy={busyWith === "check"} disabled={busyWith !== undefined && busyWith !== "check"} onClick={() => void run("check")}>
              {t(busyWith === "check" ? "checking" : "check")}
            </Button>
          )}
          {isRefused && !runner ? (
            <Button busy={busyWith === "keep"} onClick={() => void run("keep")}>
              {t("keep")}
            </Button>
          ) : null}
          <Button onClick={onClose}>{common("cancel")}</Button>
        </div>
      </form>
    </Card>
  );
}

/** Fields that the built-in runner cannot have are not sent. Without a label the service names a runner after its host. */
function readForm(data: FormData, isBuiltIn: boolean): Omit<NewRunner, "keep" | "address"> & { address?: string } {
  const text = (name: (typeof fields)[number]) => String(data.get(name) ?? "").trim();
  const label = text("label");
  return {
    tags: readTags(text("tags")),
    ...(label && { label }),
    ...(!isBuiltIn && { address: text("address"), slots: Number(text("slots")) }),
  };
}
