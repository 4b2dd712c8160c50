import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { FailureMessage, findInvalidField } from "@/components/frame/failure/failure-message";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { CopyField } from "@/components/ui/controls/copy-button";
import { SelectField } from "@/components/ui/controls/fields";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { useRequests } from "@/lib/browser/use-read";

/** Submits a form. `field` is the field that the last failure refers to. */
export function useResourceForm<Field extends string, Action extends string = "save">(fields: readonly Field[]) {
  const { failure, ...requests } = useRequests<Action>();
  return { ...requests, failure, field: failure && findInvalidField(failure, fields) };
}

type ResourceFormProps = {
  title: string;
  submitLabel: string;
  isBusy: boolean;
  /** Whether another request of the form is pending. */
  isDisabled?: boolean;
  /** A failure that no field caused. */
  failure?: ApiFailure;
  /** Above the buttons. */
  note?: ReactNode;
  /** Further buttons. */
  actions?: ReactNode;
  onSubmit: (form: HTMLFormElement) => void;
  onClose: () => void;
  children: ReactNode;
};

/** Adds or changes a resource. Input is kept until it is saved. */
export function ResourceForm({
  title,
  submitLabel,
  isBusy,
  isDisabled,
  failure,
  note,
  actions,
  onSubmit,
  onClose,
  children,
}: ResourceFormProps) {
  const common = useTranslations("common");
  return (
    <Card title={title}>
      <form
        method="post"
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit(event.currentTarget);
        }}
        className="flex max-w-[520px] flex-col gap-3.5"
        autoComplete="off"
      >
        {children}
        {failure ? <FailureMessage failure={failure} /> : null}
        {note}
        <div className="flex flex-wrap gap-2">
          <Button type="submit" tone="primary" busy={isBusy} disabled={isDisabled}>
            {submitLabel}
          </Button>
          {actions}
          <Button onClick={onClose}>{common("cancel")}</Button>
        </div>
      </form>
    </Card>
  );
}

type ChoiceFieldProps<T extends string> = {
  label: string;
  hint?: string;
  error?: string;
  value: T;
  options: readonly T[];
  onChoose: (value: T) => void;
  /** The empty option is only a prompt. */
  isRequired?: boolean;
  children: (option: T) => string;
};

export function ChoiceField<T extends string>({ label, hint, error, value, options, onChoose, isRequired, children }: ChoiceFieldProps<T>) {
  return (
    <SelectField
      label={label}
      hint={hint}
      error={error}
      value={value}
      required={isRequired}
      onChange={({ target }) => onChoose(options.find((option) => option === target.value) ?? value)}
    >
      {options.map((option) => (
        <option key={option} value={option} disabled={isRequired && option === "" && value !== ""}>
          {children(option)}
        </option>
      ))}
    </SelectField>
  );
}

type NewSecretProps = { words: "embedding" | "webhooks"; name: string; secret: string | undefined; onClose: () => void };

/** Shows a secret once, until the dialog closes. */
export function NewSecret({ words, name, secret = "", onClose }: NewSecretProps) {
  const t = useTranslations(`${words}.secret`);
  return (
    <Card title={t("title", { name })}>
      <div role="status" className="flex max-w-[620px] flex-col gap-3">
        <CopyField label={t("label")} hint={t("text")} text={secret} copyLabel={t("copy")} />
        <div>
          <Button onClick={onClose}>{t("done")}</Button>
        </div>
      </div>
    </Card>
  );
}
