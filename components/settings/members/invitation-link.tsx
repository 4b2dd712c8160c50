import { useTranslations } from "next-intl";
import { Button } from "@/components/ui/controls/button";
import { CopyButton } from "@/components/ui/controls/copy-button";
import { FormField } from "@/components/ui/controls/form-field";
import { Input } from "@/components/ui/controls/input";
import { useClock } from "@/components/ui/time/use-clock";

export type Invitation = { email: string; url: string; expiresAt: number };

/** Shown until it is closed, and never again: the console keeps a hash of it. */
export function InvitationLink({ invitation, onClose }: { invitation: Invitation; onClose: () => void }) {
  const t = useTranslations("settings.members");
  const common = useTranslations("common");
  const clock = useClock();
  const { email, url, expiresAt } = invitation;
  return (
    <div role="status" className="flex max-w-[620px] flex-col gap-3">
      <FormField label={t("link", { email })} hint={t("linkHint", { email, until: clock(expiresAt, "until") ?? "" })}>
        {(control) => (
          <span className="flex items-center gap-1">
            <Input {...control} readOnly value={url} onFocus={(event) => event.currentTarget.select()} className="font-mono text-sm" />
            <CopyButton text={url} label={t("copyLink")} />
          </span>
        )}
      </FormField>
      <div>
        <Button onClick={onClose}>{common("close")}</Button>
      </div>
    </div>
  );
}
