import { useTranslations } from "next-intl";
import { type FormEvent, type ReactNode } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { FormField } from "@/components/ui/controls/form-field";
import { Input } from "@/components/ui/controls/input";
import { type ApiFailure } from "@/lib/browser/read-failure";

type AccountFormProps = {
  title: string;
  submit: string;
  isBusy: boolean;
  failure?: ApiFailure;
  onSubmit: (data: FormData, form: HTMLFormElement) => void;
  children: ReactNode;
};

export function AccountForm({ title, submit, isBusy, failure, onSubmit, children }: AccountFormProps) {
  const t = useTranslations("settings.profile");
  function send(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    onSubmit(new FormData(event.currentTarget), event.currentTarget);
  }
  return (
    <Card title={title}>
      <form method="post" onSubmit={send} className="flex max-w-[420px] flex-col gap-3.5">
        {failure ? <FailureMessage failure={failure} /> : null}
        {children}
        <div>
          <Button type="submit" busy={isBusy}>
            {isBusy ? t("saving") : submit}
          </Button>
        </div>
      </form>
    </Card>
  );
}

export function PresentPassword({ isWrong }: { isWrong: boolean }) {
  const t = useTranslations("settings.profile");
  return (
    <FormField label={t("currentPassword")} error={isWrong ? t("wrongPassword") : undefined}>
      {(control) => <Input {...control} name="currentPassword" type="password" autoComplete="current-password" required maxLength={254} />}
    </FormField>
  );
}
