"use client";

import { useTranslations } from "next-intl";
import { use, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { PageHeader } from "@/components/frame/page-header";
import { Card } from "@/components/ui/card";
import { Button, buttonStyle } from "@/components/ui/controls/button";
import { CopyButton } from "@/components/ui/controls/copy-button";
import { CopyField } from "@/components/ui/controls/copy-button";
import { CopyableId } from "@/components/ui/controls/copy-button";
import { Select } from "@/components/ui/controls/fields";
import { FormField } from "@/components/ui/controls/form-field";
import { Dialog } from "@/components/ui/dialog";
import { useRouter } from "@/components/ui/link";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { useClock } from "@/components/ui/time/use-clock";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { outsidePath, withQuery } from "@/lib/browser/urls";
import { embedRefusals } from "@/lib/contract/embed/embed-pages";
import { type EmbedHostSaved, type EmbedHostView } from "@/lib/contract/embed/embedding";
import { type Failure } from "@/lib/contract/failure";
import { type Role } from "@/lib/contract/people/roles";
import { type Result } from "@/lib/shared/result";
import { RemovalDialog } from "../revocable-list";
import { SettingsTabs } from "../settings-tabs";
import { HostForm, type TeamConnection } from "./host-form";
import { isServerLanguage, languageNames, pageSnippet, serverCode, type ServerLanguage, serverLanguages } from "./server-code";

type EmbeddingScreenProps = {
  role: Role;
  connections: readonly TeamConnection[];
  /** Absent for roles that may not see them. */
  hosts?: Promise<Result<EmbedHostView[], Failure>>;
};

export function EmbeddingScreen({ role, connections, hosts }: EmbeddingScreenProps) {
  const t = useTranslations("embedding");
  const settings = useTranslations("settings");
  const roleName = useTranslations("frame.member.role");
  const router = useRouter();
  const [open, setOpen] = useState<EmbedHostView | "new">();
  const [saved, setSaved] = useState<EmbedHostSaved>();

  function keep(given: EmbedHostSaved) {
    setOpen(undefined);
    setSaved(given.secret === undefined ? undefined : given);
    router.refresh();
  }
  return (
    <>
      <PageHeader title={settings("title")}>
        {hosts && !open ? (
          <Button tone="primary" onClick={() => setOpen("new")}>
            {t("add")}
          </Button>
        ) : null}
      </PageHeader>
      <SettingsTabs current="embedding" />
      <div className="flex w-full max-w-[860px] flex-col gap-3.5 p-4 md:px-5">
        {hosts ? (
          <>
            <p className="text-ink-2">{t("intro")}</p>
            {saved ? <HostSecret saved={saved} onClose={() => setSaved(undefined)} /> : null}
            {open ? (
              <HostForm
                key={open === "new" ? "new" : open.id}
                host={open === "new" ? undefined : open}
                role={role}
                connections={connections}
                onSaved={keep}
                onClose={() => setOpen(undefined)}
              />
            ) : null}
            <HostList hosts={hosts} connections={connections} onChange={setOpen} />
          </>
        ) : (
          <p className="text-ink-2">{t("notYours", { role: roleName(role) })}</p>
        )}
      </div>
    </>
  );
}

/** Shown until it is closed, and never again. */
function HostSecret({ saved: { host, secret = "" }, onClose }: { saved: EmbedHostSaved; onClose: () => void }) {
  const t = useTranslations("embedding.secret");
  return (
    <Card title={t("title", { name: host.name })}>
      <div role="status" className="flex max-w-[620px] flex-col gap-3">
        <CopyField label={t("label")} hint={t("text")} text={secret} copyLabel={t("copy")} />
        <div>
          <Button onClick={onClose}>{t("done")}</Button>
        </div>
      </div>
    </Card>
  );
}

type HostListProps = {
  hosts: Promise<Result<EmbedHostView[], Failure>>;
  connections: readonly TeamConnection[];
  onChange: (host: EmbedHostView) => void;
};

function HostList({ hosts, connections, onChange }: HostListProps) {
  const t = useTranslations("embedding");
  const router = useRouter();
  const [leaving, setLeaving] = useState<EmbedHostView>();
  const [shown, setShown] = useState<EmbedHostView>();
  const [failure, setFailure] = useState<ApiFailure>();
  const result = use(hosts);
  if (!result.ok) return <FailureMessage failure={result.failure} onRetry={() => router.refresh()} />;

  async function remove({ id, name }: EmbedHostView) {
    setLeaving(undefined);
    const done = await callApi(`/api/console/embedding/${encodeURIComponent(id)}`, { method: "DELETE" });
    setFailure(done.ok ? undefined : done.failure);
    if (done.ok) showToast({ tone: "off", text: t("removed", { name }) });
    router.refresh();
  }
  return (
    <>
      {failure ? <FailureMessage failure={failure} /> : null}
      <Card title={t("hosts")} note={result.value.length} bodyClassName="p-0">
        {result.value.length === 0 ? <p className="px-3.5 py-3 text-ink-3">{t("none")}</p> : null}
        <ul>
          {result.value.map((host) => (
            <HostItem
              key={host.id}
              host={host}
              connection={connections.find(({ id }) => id === host.connection)?.name}
              onCode={() => setShown(host)}
              onChange={() => onChange(host)}
              onRemove={() => setLeaving(host)}
            />
          ))}
        </ul>
      </Card>
      {shown ? <SnippetDialog host={shown} onClose={() => setShown(undefined)} /> : null}
      <RemovalDialog
        leaving={leaving}
        title={t("removeTitle", { name: leaving?.name ?? "" })}
        onRemove={(gone) => void remove(gone)}
        onClose={() => setLeaving(undefined)}
      >
        {t("removeText")}
      </RemovalDialog>
    </>
  );
}

type HostItemProps = { host: EmbedHostView; connection?: string; onCode: () => void; onChange: () => void; onRemove: () => void };

function HostItem({ host, connection, onCode, onChange, onRemove }: HostItemProps) {
  const t = useTranslations("embedding");
  const roleName = useTranslations("frame.member.role");
  const clock = useClock();
  const { id, name, origins, role, pages, guests, jwksUrl, refused, keptBy, oldSecretUntil } = host;
  const why = embedRefusals.find((one) => one === refused?.why);
  const facts = [
    [t("origins"), origins.join(", ")],
    [t("connection"), host.connection === null ? t("allConnections") : (connection ?? host.connection)],
    [t("role"), roleName(role)],
    [t("pages"), pages.map((page) => t(`page.${page}`)).join(", ")],
    [t("guests"), guests ? t("guestsYes") : t("guestsNo")],
    [t("key"), jwksUrl === null ? t("keySecret") : t("keyJwks", { url: jwksUrl })],
    ...(keptBy ? [[t("keptBy"), keptBy.name] as const] : []),
  ] as const;
  return (
    <li className="flex flex-col gap-2 border-b border-line px-3.5 py-3 last:border-b-0">
      <div className="flex flex-wrap items-center gap-2">
        <b className="min-w-0 truncate font-semibold">{name}</b>
        <CopyableId id={id} />
        <span className="ml-auto flex gap-2">
          <Button size="small" aria-label={t("actOn", { act: t("code"), name })} onClick={onCode}>
            {t("code")}
          </Button>
          <Button size="small" aria-label={t("actOn", { act: t("change"), name })} onClick={onChange}>
            {t("change")}
          </Button>
          <Button size="small" aria-label={t("actOn", { act: t("remove"), name })} onClick={onRemove}>
            {t("remove")}
          </Button>
        </span>
      </div>
      <dl className="grid grid-cols-[minmax(0,9rem)_minmax(0,1fr)] gap-x-3 gap-y-0.5">
        {facts.map(([label, text]) => (
          <div key={label} className="contents">
            <dt className="text-ink-3">{label}</dt>
            <dd className="min-w-0 break-words">{text}</dd>
          </div>
        ))}
      </dl>
      {oldSecretUntil === undefined ? null : <p className="text-ink-2">{t("oldSecret", { time: clock(oldSecretUntil, "until") ?? "" })}</p>}
      {keptBy?.lost ? <p className="text-wait">{t(`keeperLost.${keptBy.lost}`, { name: keptBy.name })}</p> : null}
      {refused && why ? (
        <p className="text-bad">{t.rich("refusedAt", { why: t(`refusal.${why}`), time: () => <RelativeTime ms={refused.at} /> })}</p>
      ) : null}
    </li>
  );
}

function SnippetDialog({ host, onClose }: { host: EmbedHostView; onClose: () => void }) {
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
