import { useTranslations } from "next-intl";
import { Button } from "@/components/ui/controls/button";
import { Card } from "@/components/ui/card";
import { CopyButton } from "@/components/ui/controls/copy-button";
import { FormField } from "@/components/ui/controls/form-field";
import { Input } from "@/components/ui/controls/input";
import { type EmbedHostSaved } from "@/lib/contract/embed/embedding";

/** Shown until it is closed, and never again. */
export function HostSecret({ saved: { host, secret = "" }, onClose }: { saved: EmbedHostSaved; onClose: () => void }) {
  const t = useTranslations("embedding.secret");
  return (
    <Card title={t("title", { name: host.name })}>
      <div role="status" className="flex max-w-[620px] flex-col gap-3">
        <FormField label={t("label")} hint={t("text")}>
          {(control) => (
            <span className="flex items-center gap-1">
              <Input {...control} readOnly value={secret} onFocus={(event) => event.currentTarget.select()} className="font-mono text-sm" />
              <CopyButton text={secret} label={t("copy")} />
            </span>
          )}
        </FormField>
        <div>
          <Button onClick={onClose}>{t("done")}</Button>
        </div>
      </div>
    </Card>
  );
}
