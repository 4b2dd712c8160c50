import { useTranslations } from "next-intl";
import { type ComponentProps, type ReactNode } from "react";
import { Input } from "@/components/ui/controls/fields";
import { FailureNotice } from "@/components/ui/empty-state";
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH, type OidcRefusal } from "@/lib/contract/members/sign-in";

export function NewPasswordInput(props: ComponentProps<typeof Input>) {
  return (
    <Input
      {...props}
      name="password"
      type="password"
      autoComplete="new-password"
      required
      minLength={MIN_PASSWORD_LENGTH}
      maxLength={MAX_PASSWORD_LENGTH}
    />
  );
}

export type ProviderRefusalReason = OidcRefusal | "unreachable" | "broken";

/** Explains why the provider refused the sign-in, with the remedy. */
export function ProviderRefusal({ reason, provider, actions }: { reason: ProviderRefusalReason; provider: string; actions?: ReactNode }) {
  const t = useTranslations("auth.provider.reasons");
  return <FailureNotice title={t(`${reason}.title`, { provider })} remedy={t(`${reason}.next`, { provider })} actions={actions} />;
}
