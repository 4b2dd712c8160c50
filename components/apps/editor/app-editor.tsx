"use client";

import { useTranslations } from "next-intl";
import { type ReactNode, useId, useState } from "react";
import { useConnection, useConnectionParam } from "@/components/frame/connection/connection-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { PageHeader } from "@/components/frame/page-header";
import { ContentSkeleton } from "@/components/frame/page-skeleton";
import { AssetPicker } from "@/components/run/form/controls/asset-picker";
import { RefusalNote } from "@/components/run/workflow/opening-notes";
import { Card } from "@/components/ui/card";
import { Button, buttonStyle } from "@/components/ui/controls/button";
import { InputField, TextareaField } from "@/components/ui/controls/fields";
import { EmptyState } from "@/components/ui/empty-state";
import { useCloseWarning } from "@/components/ui/hooks/page-events";
import { ButtonLink, Link, useRouter } from "@/components/ui/link";
import { Picture } from "@/components/ui/pictures/picture";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { apiPath, createThumbnailUrl, withQuery } from "@/lib/browser/urls";
import { type AppDefinition, type AppView } from "@/lib/contract/apps/app";
import { addDefault } from "@/lib/contract/apps/fill";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { parseTags } from "@/lib/shared/text";
import { AppForm } from "../app-form";
import { usePictureContext } from "../app-screen";
import { getDefaultValues } from "../app-values";
import { getAppApiPath, getAppPath } from "../apps-urls";
import { AccessCard, VersionsCard } from "./app-cards";
import { InputsCard, OutputsCard } from "./inputs-card";
import { type Draft, type EditorSource, useAppSource, useNewAppSource } from "./use-app-source";

export function NewAppScreen({ memberId, job }: { memberId: string; job?: string }) {
  const source = useNewAppSource(memberId, job);
  return <AppEditor source={source} />;
}

export function EditAppScreen({ id }: { id: string }) {
  const source = useAppSource(id);
  return <AppEditor source={source} />;
}

function AppEditor({ source }: { source: EditorSource }) {
  const connectionParam = useConnectionParam();
  const t = useTranslations("apps.make");
  const tApps = useTranslations("apps");
  const router = useRouter();
  if (source.kind === "ready") return <AppEditorForm key={source.draft.version ?? 0} {...source} />;
  return (
    <>
      <Header title={t("new")} />
      {source.kind === "loading" ? <ContentSkeleton layout="split" /> : null}
      {source.kind === "refused" ? (
        <div className="p-4 md:px-5">
          <RefusalNote
            refusal={source.refusal}
            hasOpenWorkflow={false}
            onDismiss={() => router.push(withQuery("/run", { connection: connectionParam }))}
          />
        </div>
      ) : null}
      {source.kind === "failed" ? <FailureMessage failure={source.failure} onRetry={source.retry} className="m-4 md:mx-5" /> : null}
      {source.kind === "nothing" ? (
        <EmptyState
          title={t("nothing")}
          text={t("nothingText")}
          action={
            <ButtonLink href={withQuery("/run", { connection: connectionParam })} tone="primary">
              {tApps("openRun")}
            </ButtonLink>
          }
        />
      ) : null}
    </>
  );
}

function Header({ title, children }: { title: string; children?: ReactNode }) {
  const connectionParam = useConnectionParam();
  const tApps = useTranslations("apps");
  return (
    <PageHeader
      trail={
        <Link href={withQuery("/apps", { connection: connectionParam })} className="hover:text-ink max-sm:hidden">
          {tApps("title")} /
        </Link>
      }
      title={<span className="block max-w-[36ch] truncate max-sm:max-w-[16ch]">{title}</span>}
    >
      {children}
    </PageHeader>
  );
}

type AppEditorFormProps = { draft: Draft; unsupported?: readonly string[]; app?: AppView; catalogue?: ObjectInfo };

function AppEditorForm({ draft: initialDraft, unsupported = [], app, catalogue }: AppEditorFormProps) {
  const connectionParam = useConnectionParam();
  const t = useTranslations("apps.make");
  const router = useRouter();
  const currentConnectionId = useConnection()?.id;
  const connection = app?.connectionId ?? currentConnectionId;
  const [draft, setDraft] = useState(initialDraft);
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const formId = useId();
  const { definition, access, limits } = draft;
  useCloseWarning(draft !== initialDraft && !isBusy);
  const updateDefinition = (change: Partial<AppDefinition>) =>
    setDraft((current) => ({ ...current, definition: { ...current.definition, ...change } }));

  async function save() {
    if (isBusy) return;
    setBusy(true);
    setFailure(undefined);
    const result = await callApi<{ app: AppView }>(app ? getAppApiPath(app.id) : withQuery("/api/apps", { connection }), {
      method: app ? "PUT" : "POST",
      json: app ? draft : { definition, access, limits },
    });
    if (result.ok) {
      showToast({ tone: "ok", text: t(app ? "saved" : "made", { title: result.value.app.title }) });
      return router.push(withQuery(getAppPath(result.value.app.id), { connection: connectionParam }));
    }
    setBusy(false);
    setFailure(result.failure);
  }
  return (
    <>
      <Header title={app ? app.title : t("new")}>
        {app ? (
          <a
            href={apiPath(getAppApiPath(app.id, "export"))}
            download
            className={buttonStyle({ tone: "quiet", className: "max-sm:hidden" })}
          >
            {t("export")}
          </a>
        ) : null}
        <ButtonLink href={withQuery(app ? getAppPath(app.id) : "/run", { connection: connectionParam })} className="max-sm:hidden">
          {t("cancel")}
        </ButtonLink>
        <Button type="submit" form={formId} tone="primary" busy={isBusy}>
          {t(app ? "save" : "make")}
        </Button>
      </Header>
      <div className="grid flex-1 content-start gap-5 px-4 py-4 md:px-5 xl:grid-cols-[minmax(0,1fr)_minmax(320px,440px)]">
        <form
          id={formId}
          onSubmit={(event) => {
            event.preventDefault();
            void save();
          }}
          className="flex min-w-0 flex-col gap-3.5"
        >
          {failure ? <FailureMessage failure={failure} title={t("notSaved")} /> : null}
          <AboutCard definition={definition} connection={connection} onChange={updateDefinition} />
          <InputsCard
            definition={definition}
            catalogue={catalogue}
            unsupported={unsupported}
            onChange={(inputs) => updateDefinition({ inputs })}
          />
          <OutputsCard definition={definition} catalogue={catalogue} onChange={(outputs) => updateDefinition({ outputs })} />
          <AccessCard
            access={access}
            limits={limits}
            connection={connection}
            onChange={(change) => setDraft((current) => ({ ...current, ...change }))}
          />
          {app ? <VersionsCard app={app} /> : null}
        </form>
        <Preview app={app?.id} definition={definition} connection={connection} />
      </div>
    </>
  );
}

type AboutCardProps = { definition: AppDefinition; connection?: string; onChange: (change: Partial<AppDefinition>) => void };

function AboutCard({ definition: { title, text, tags, cover }, connection, onChange }: AboutCardProps) {
  const t = useTranslations("apps.make.about");
  const picture = usePictureContext(undefined, true, connection);
  const [isPicking, setPicking] = useState(false);
  const [tagText, setTagText] = useState(tags.join(", "));
  return (
    <Card title={t("title")} bodyClassName="flex flex-col gap-3.5">
      <InputField label={t("name")} required maxLength={80} value={title} onChange={({ target }) => onChange({ title: target.value })} />
      <TextareaField
        label={t("text")}
        hint={t("textHint")}
        rows={3}
        maxLength={5000}
        value={text}
        onChange={({ target }) => onChange({ text: target.value })}
      />
      <InputField
        label={t("tags")}
        hint={t("tagsHint")}
        value={tagText}
        onChange={({ target }) => {
          setTagText(target.value);
          onChange({ tags: parseTags(target.value) });
        }}
      />
      <div role="group" aria-label={t("cover")} className="flex flex-wrap items-center gap-3">
        <Picture
          src={cover === undefined ? undefined : createThumbnailUrl({ connection, asset: cover, edge: 256 })}
          alt={cover === undefined ? "" : t("cover")}
          width={128}
          height={72}
          className="h-[72px] w-32"
        />
        <span className="flex flex-wrap gap-2">
          <Button size="small" onClick={() => setPicking(true)}>
            {t("choose")}
          </Button>
          {cover === undefined ? null : (
            <Button size="small" tone="quiet" onClick={() => onChange({ cover: undefined })}>
              {t("remove")}
            </Button>
          )}
        </span>
        <AssetPicker
          isOpen={isPicking}
          picture={picture}
          onClose={() => setPicking(false)}
          onPicked={([pickedAsset]) => {
            setPicking(false);
            if (pickedAsset) onChange({ cover: pickedAsset.assetId });
          }}
        />
      </div>
    </Card>
  );
}

type PreviewProps = { app: string | undefined; definition: AppDefinition; connection?: string };

/** Previews the form. Its values are not stored. Render it outside the editor's form, which Enter submits. */
function Preview({ app, definition, connection }: PreviewProps) {
  const t = useTranslations("apps.make");
  const { title, text, graph } = definition;
  const inputs = definition.inputs.map((input) => addDefault(input, graph));
  const [previewValues, setPreviewValues] = useState<Readonly<Record<string, unknown>>>({});
  const picture = usePictureContext(app, false, connection);
  return (
    <section
      aria-label={t("preview")}
      className="min-w-0 xl:sticky xl:top-[68px] xl:max-h-[calc(100dvh-84px)] xl:self-start xl:overflow-y-auto"
    >
      <div className="flex flex-col gap-4 rounded-lg border border-dashed border-control p-4">
        <p className="text-sm text-ink-3">{t("preview")}</p>
        <p className="text-lg font-semibold break-words">{title}</p>
        {text ? <p className="break-words whitespace-pre-line text-ink-2">{text}</p> : null}
        <AppForm
          inputs={inputs}
          values={{ ...getDefaultValues(inputs), ...previewValues }}
          problems={[]}
          picture={picture}
          onChange={(name, value) =>
            setPreviewValues(({ [name]: _, ...otherValues }) => (value === undefined ? otherValues : { ...otherValues, [name]: value }))
          }
          onRunning={() => undefined}
        />
      </div>
    </section>
  );
}
