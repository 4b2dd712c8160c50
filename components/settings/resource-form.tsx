import { useTranslations } from "next-intl";
import { type ReactNode, useEffect, useRef } from "react";
import { FailureMessage, findInvalidField } from "@/components/frame/failure/failure-message";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { SelectField } from "@/components/ui/controls/fields";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { useRequests } from "@/lib/browser/use-read";
import { type RenewWebhookSecret, secretRenewals } from "@/lib/contract/webhook-events";
import { type Result } from "@/lib/shared/result";

/**
 * Submits a form. `field` is the field that the last failure refers to. `signal` is aborted when the form closes. Requests that create a
 * secret must not use it, because the secret is shown only once.
 */
export function useResourceForm<Field extends string, Action extends string = "save">(fields: readonly Field[]) {
  const { busyWith, failure, send } = useRequests<Action>();
  const controller = useRef<AbortController>(undefined);
  useEffect(() => {
    const newController = (controller.current = new AbortController());
    return () => newController.abort();
  }, []);
  return {
    busyWith,
    failure,
    field: failure && findInvalidField(failure, fields),
    send: <T,>(action: NoInfer<Action>, request: (signal: AbortSignal | undefined) => Promise<Result<T, ApiFailure>>) =>
      send(action, request(controller.current?.signal)),
  };
}

type ResourceFormProps = {
  title: string;
  submitLabel: string;
  isBusy: boolean;
  /** Whether another request of the form is pending. */
  isDisabled?: boolean;
  /** A failure that doesn't concern a field. */
  failure?: ApiFailure;
  /** Shown above the buttons. */
  notice?: ReactNode;
  /** Additional buttons. */
  actions?: ReactNode;
  onSubmit: (form: HTMLFormElement) => void;
  onClose: () => void;
  children: ReactNode;
};

/** Adds or changes a resource. The form keeps its input until it is saved. */
export function ResourceForm({
  title,
  submitLabel,
  isBusy,
  isDisabled,
  failure,
  notice,
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
        {notice}
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
  /** Requires a choice, so that the empty option is only a prompt. */
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

type RenewSecretFieldProps = {
  messageNamespace: "embedding" | "webhooks";
  /** Undefined keeps the current secret. */
  value: RenewWebhookSecret | undefined;
  onChoose: (value: RenewWebhookSecret | undefined) => void;
};

export function RenewSecretField({ messageNamespace, value, onChoose }: RenewSecretFieldProps) {
  const t = useTranslations(messageNamespace);
  return (
    <ChoiceField<RenewWebhookSecret | "no">
      label={t("secret.label")}
      hint={value && t(`form.renewHint.${value}`)}
      value={value ?? "no"}
      options={["no", ...secretRenewals]}
      onChoose={(choice) => onChoose(choice === "no" ? undefined : choice)}
    >
      {(choice) => t(`form.renew.${choice}`)}
    </ChoiceField>
  );
}

type SecretCardProps = { title: string; closeLabel?: string; onClose: () => void; children: ReactNode };

/** Shows a secret once, until it is closed. The console stores only its hash. */
export function SecretCard({ title, closeLabel, onClose, children }: SecretCardProps) {
  const common = useTranslations("common");
  return (
    <Card title={title}>
      <div role="status" className="flex max-w-[720px] flex-col gap-3.5">
        {children}
        <div>
          <Button onClick={onClose}>{closeLabel ?? common("close")}</Button>
        </div>
      </div>
    </Card>
  );
}
