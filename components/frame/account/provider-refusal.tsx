import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { FailureNotice } from "@/components/ui/failure-notice";
import { type OidcRefusal } from "@/lib/contract/people/sign-in";

export type ProviderRefusalReason = OidcRefusal | "unreachable" | "broken";

/** One sentence about what happened at the provider, and one about what to do. */
export function ProviderRefusal({ reason, provider, actions }: { reason: ProviderRefusalReason; provider: string; actions?: ReactNode }) {
  const t = useTranslations("auth.provider.reasons");
  return <FailureNotice title={t(`${reason}.title`, { provider })} next={t(`${reason}.next`, { provider })} actions={actions} />;
}
