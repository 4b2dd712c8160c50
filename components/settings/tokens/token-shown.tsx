import { useTranslations } from "next-intl";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { CopyButton } from "@/components/ui/controls/copy-button";
import { FormField } from "@/components/ui/controls/form-field";
import { Input } from "@/components/ui/controls/input";
import { apiPath } from "@/lib/browser/urls";
import { type TokenMade } from "@/lib/contract/people/tokens";

/** Shown until it is closed, and never again: the console keeps a hash of it. */
export function TokenShown({ made: { token, view }, onClose }: { made: TokenMade; onClose: () => void }) {
  const t = useTranslations("tokens");
  const common = useTranslations("common");
  const example = `curl -H "X-API-Key: ${token}" ${window.location.origin}${apiPath("/api/jobs")}`;
  const lines = [
    { label: t("made", { name: view.name }), hint: t("madeHint"), text: token, copy: t("copyToken") },
    { label: t("example"), text: example, copy: t("copyExample") },
  ];
  return (
    <Card title={t("create")}>
      <div role="status" className="flex max-w-[720px] flex-col gap-3.5">
        {lines.map(({ label, hint, text, copy }, at) => (
          <FormField key={copy} label={label} hint={hint}>
            {(control) => (
              <span className="flex items-center gap-1">
                <Input
                  {...control}
                  readOnly
                  value={text}
                  autoFocus={at === 0}
                  onFocus={(event) => event.currentTarget.select()}
                  className="font-mono text-sm"
                />
                <CopyButton text={text} label={copy} />
              </span>
            )}
          </FormField>
        ))}
        <div>
          <Button onClick={onClose}>{common("close")}</Button>
        </div>
      </div>
    </Card>
  );
}
