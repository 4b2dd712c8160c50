import { useTranslations } from "next-intl";
import { useState } from "react";
import { Button, buttonStyle } from "@/components/ui/controls/button";
import { CopyButton } from "@/components/ui/controls/copy-button";
import { FormField } from "@/components/ui/controls/form-field";
import { Select } from "@/components/ui/controls/select";
import { Dialog } from "@/components/ui/dialog";
import { outsidePath, withQuery } from "@/lib/browser/urls";
import { type EmbedHostView } from "@/lib/contract/embed/embedding";
import { serverCode } from "./server-code";
import { isServerLanguage, languageNames, pageSnippet, type ServerLanguage, serverLanguages } from "./snippet";

export function SnippetDialog({ host, onClose }: { host: EmbedHostView; onClose: () => void }) {
  const t = useTranslations("embedding.snippet");
  const [language, setLanguage] = useState<ServerLanguage>("node");
  const doctor = withQuery("/embed/doctor", { host: host.id, origin: host.origins[0] });
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t("title", { name: host.name })}
      className="w-[min(880px,calc(100vw-24px))]"
      actions={
        <>
          <a href={outsidePath(doctor)} target="_blank" rel="noreferrer" className={buttonStyle()}>
            {t("doctor")}
          </a>
          <Button onClick={onClose}>{t("close")}</Button>
        </>
      }
    >
      <FormField label={t("language")}>
        {(control) => (
          <Select
            {...control}
            value={language}
            onChange={({ target }) => {
              if (isServerLanguage(target.value)) setLanguage(target.value);
            }}
          >
            {serverLanguages.map((one) => (
              <option key={one} value={one}>
                {languageNames[one]}
              </option>
            ))}
          </Select>
        )}
      </FormField>
      <Code title={t("server")} text={serverCode(language, host)} note={t(host.jwksUrl === null ? "serverNote" : "serverNoteKey")} />
      <Code title={t("page")} text={pageSnippet(host)} note={t("pageNote")} />
    </Dialog>
  );
}

function Code({ title, text, note }: { title: string; text: string; note?: string }) {
  const t = useTranslations("embedding.snippet");
  return (
    <section className="my-3">
      <h3 className="flex items-center gap-2 font-medium text-ink">
        {title} <CopyButton text={text} label={`${t("copy")}: ${title}`} />
      </h3>
      {note ? <p className="text-sm text-ink-3">{note}</p> : null}
      <pre tabIndex={0} aria-label={title} className="mt-1 overflow-x-auto rounded-md bg-sunken p-3 font-mono text-sm text-ink">
        {text}
      </pre>
    </section>
  );
}
