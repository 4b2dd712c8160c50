"use client";

import { Play } from "lucide-react";
import { useTranslations } from "next-intl";
import { use, useMemo, useState, useSyncExternalStore } from "react";
import { useConnection, useConnectionParam, useConnections } from "@/components/frame/connection/connection-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { useDenialText, useRole } from "@/components/frame/member-context";
import { PageHeader } from "@/components/frame/page-header";
import { ContentSkeleton } from "@/components/frame/page-skeleton";
import { createPictureApi, type PickerProps, type PictureContext } from "@/components/run/form/controls/picture-api";
import { Button } from "@/components/ui/controls/button";
import { CopyButton } from "@/components/ui/controls/copy-button";
import { Options, Select } from "@/components/ui/controls/fields";
import { useRunKey } from "@/components/ui/hooks/page-events";
import { ButtonLink, Link } from "@/components/ui/link";
import { type TimedValue, toInitial, useLive } from "@/lib/browser/live/use-live";
import { persisted, tabStorage } from "@/lib/browser/persisted";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { type AppField, type AppView } from "@/lib/contract/apps/app";
import { isFileKind, RANDOM } from "@/lib/contract/apps/fill";
import { hasFeature } from "@/lib/contract/connections";
import { type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { asObject, getOwn } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { hasRole } from "@/lib/contract/people/roles";
import { type Result } from "@/lib/shared/result";
import { createMaskTarget, fileAddress, findMissingFiles, OwnPictures } from "./app-files";
import { AppForm, fieldId } from "./app-form";
import { AppRuns, RESULTS, useAppRuns } from "./app-runs";
import { defaultValues, type FieldProblem, type FieldValues, findProblems, parseProblems, toFormValues, toSend } from "./app-values";
import { appApi, appPath } from "./apps-address";
import { FavouriteButton } from "./apps-screen";
import { Presets } from "./presets";
import { RunRefusal } from "./run-problems";

type AppResponse = { app: AppView };
type AppScreenProps = { id: string; app: Promise<Result<TimedValue<AppView>, Failure>> };

const getApp = ({ app }: AppResponse) => app;

export function AppScreen({ id, app }: AppScreenProps) {
  const connectionParam = useConnectionParam();
  const t = useTranslations("apps");
  const first = use(app);
  const live = useLive(appApi(id), { ...toInitial(first), read: getApp });
  const view = live.value;
  const trail = (
    <Link href={withQuery("/apps", { connection: connectionParam })} className="hover:text-ink max-sm:hidden">
      {t("title")} /
    </Link>
  );
  return (
    <>
      <PageHeader
        trail={trail}
        title={<span className="block max-w-[40ch] truncate max-sm:max-w-[20ch]">{view?.title ?? t("title")}</span>}
      >
        {view ? (
          <>
            <FavouriteButton app={view} onChanged={live.refresh} />
            {view.canSeeWorkflow ? (
              <ButtonLink href={withQuery("/run", { app: id, connection: connectionParam })} tone="quiet" className="max-sm:hidden">
                {t("showWorkflow")}
              </ButtonLink>
            ) : null}
            {view.canEdit ? (
              <ButtonLink href={withQuery(appPath(id, "edit"), { connection: connectionParam })}>{t("edit")}</ButtonLink>
            ) : null}
          </>
        ) : null}
      </PageHeader>
      {view || live.failure ? null : <ContentSkeleton layout="split" />}
      {live.failure ? <FailureMessage failure={live.failure} onRetry={() => void live.refresh()} className="m-4 md:mx-5" /> : null}
      {view ? <OpenApp app={view} onRun={live.refresh} /> : null}
    </>
  );
}

/** The picture context of the app's form. */
export function usePictures(app: string | undefined, canSend: boolean, connectionId?: string): PictureContext {
  const [ownNames, setOwnNames] = useState<Readonly<Record<string, string>>>({});
  const currentConnection = useConnection();
  const connection = useConnections().find(({ id }) => id === connectionId) ?? currentConnection;
  const id = connection?.id;
  const role = useRole();
  const canSeeAssets = hasFeature(connection, "assets") && (role === undefined || hasRole(role, "viewer"));
  const pictures = useMemo(() => createPictureApi(connection?.id, hasFeature(connection, "contentLookup")), [connection]);
  return {
    connection: id,
    canSend,
    ownNames,
    isPlain: true,
    listAssets: pictures.listAssets,
    storedName: async () => undefined,
    sendPicture: pictures.sendPicture,
    ...(app !== undefined && {
      getSource: (value: string) => fileAddress(app, value, 512),
      masks: createMaskTarget(app),
      ...(!canSeeAssets && { picker: (props: PickerProps) => <OwnPictures app={app} {...props} /> }),
    }),
    onNamed: (sentAs, name) => setOwnNames((ownNames) => ({ ...ownNames, [sentAs]: name })),
  };
}

const runCounts = [1, 2, 4, 8] as const;
const MAX_STORED_CHARACTERS = 1_000_000;
const parseValues = (storedValue: unknown): FieldValues => asObject(storedValue) ?? {};
/** Rendered by the server and used until the page has hydrated. */
const noValues: FieldValues = {};
const getNoValues = () => noValues;

function OpenApp({ app, onRun }: { app: AppView; onRun: () => Promise<void> }) {
  const t = useTranslations("apps");
  const { id, inputs, text, canRun, lastInputs } = app;
  const getDenialText = useDenialText();
  // Stored per tab, so it survives a reload.
  const [storedValues] = useState(() =>
    persisted(`lightdesk.app.${id}`, parseValues, tabStorage, { maxCharacters: MAX_STORED_CHARACTERS, parse: parseJson }),
  );
  const typed = useSyncExternalStore(storedValues.subscribe, storedValues.get, getNoValues);
  // Typed values survive a new version of the app.
  const values = { ...defaultValues(inputs), ...typed };
  const [problems, setProblems] = useState<readonly FieldProblem[]>([]);
  const [uploading, setUploading] = useState<readonly string[]>([]);
  const [count, setCount] = useState(1);
  const runs = useAppRuns(id);
  const picture = usePictures(id, canRun, app.connectionId);
  const drawsSeeds = inputs.some(({ name, control }) => control.kind === "seed" && values[name] === RANDOM);
  const isBusy = runs.isSending || uploading.length > 0;

  function showProblems(fieldProblems: readonly FieldProblem[]) {
    setProblems(fieldProblems);
    const [first] = fieldProblems;
    const field = first && document.getElementById(fieldId(first.input));
    field?.focus({ preventScroll: true });
    field?.scrollIntoView?.({ block: "center" });
  }
  async function run(isRetry = false) {
    if (!canRun || isBusy) return;
    const appProblems = findProblems(inputs, values);
    if (appProblems.length > 0) return showProblems(appProblems);
    setProblems([]);
    const inputsToSend = toSend(inputs, values);
    const failure = await (isRetry ? runs.again(inputsToSend) : runs.send(inputsToSend, drawsSeeds ? count : 1));
    const refused = failure && parseProblems(failure, inputs);
    if (refused) {
      runs.forget();
      showProblems(refused);
    }
    // Scrolls to the new run, which may be below the form or scrolled away.
    else if (!failure) document.getElementById(RESULTS)?.scrollIntoView?.({ block: "start" });
    await onRun();
  }
  async function fill(next: FieldValues) {
    storedValues.set(next);
    setProblems([]);
    const missingFiles = await findMissingFiles(id, inputs, next);
    const unchangedMissing = missingFiles.filter(({ input }) => getOwn(storedValues.get(), input) === getOwn(next, input));
    setProblems((current) => [
      ...current.filter(({ input }) => !unchangedMissing.some((appProblem) => appProblem.input === input)),
      ...unchangedMissing,
    ]);
  }
  useRunKey(() => void run());
  return (
    <div className="grid flex-1 content-start gap-5 px-4 py-4 md:px-5 lg:grid-cols-[minmax(320px,440px)_minmax(0,1fr)]">
      <div className="flex min-w-0 flex-col gap-4 lg:sticky lg:top-[52px] lg:-mx-1.5 lg:-mt-4 lg:px-1.5 lg:max-h-[calc(100dvh-52px)] lg:self-start lg:overflow-y-auto lg:pt-4">
        {text ? <p className="break-words whitespace-pre-line text-ink-2">{text}</p> : null}
        <Presets
          app={id}
          inputs={inputs}
          values={values}
          {...(lastInputs && { last: toFormValues(inputs, lastInputs) })}
          onFill={(next) => void fill(next)}
        />
        <form
          aria-label={t("form.label")}
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            void run();
          }}
          className="flex min-w-0 flex-col gap-4"
        >
          <AppForm
            app={id}
            inputs={inputs}
            values={values}
            problems={problems}
            picture={picture}
            onChange={(name, value) => {
              storedValues.set({ ...storedValues.get(), [name]: value });
              setProblems((current) => current.filter(({ input }) => input !== name));
            }}
            onRunning={(name, isRunning) =>
              setUploading((current) => [...current.filter((value) => value !== name), ...(isRunning ? [name] : [])])
            }
          />
          {inputs.length === 0 ? <p className="text-ink-2">{t("form.noInputs")}</p> : null}
          {runs.failure ? <RunRefusal app={app} failure={runs.failure} onRetry={() => void run(true)} /> : null}
          <div
            data-lower-edge=""
            className="sticky bottom-[calc(49px+env(safe-area-inset-bottom))] z-20 -mx-4 flex gap-2 border-t border-line bg-bg px-4 py-2 md:bottom-0 md:mx-0 md:px-0"
          >
            {canRun ? (
              <>
                <Button type="submit" tone="primary" busy={isBusy} title={t("form.runHint")} className="min-h-9 flex-1">
                  <Play aria-hidden="true" className="size-3.5 fill-current" />
                  {uploading.length > 0 ? t("form.waiting") : runs.isSending ? t("form.sending") : t("form.run")}
                </Button>
                {drawsSeeds ? (
                  <Select aria-label={t("form.times")} value={count} onChange={({ target }) => setCount(Number(target.value))}>
                    <Options of={runCounts.map((count) => [count, t("form.count", { many: count })])} />
                  </Select>
                ) : null}
              </>
            ) : (
              <p className="text-ink-2">{getDenialText(t("form.cannotRun"))}</p>
            )}
          </div>
        </form>
        <AppOperation app={app} />
      </div>
      <AppRuns app={app} runs={runs} onReuse={(runValues) => void fill(toFormValues(inputs, runValues))} />
    </div>
  );
}

/** How to run this app by API: a shell command, and a link to its API description. */
function AppOperation({ app: { id, inputs } }: { app: AppView }) {
  const t = useTranslations("apps.operation");
  const line = () => curlLine(new URL(apiPath(appApi(id, "runs")), window.location.origin).href, inputs);
  return (
    <details className="text-sm text-ink-2">
      <summary className="cursor-pointer py-1 hover:text-ink">{t("title")}</summary>
      <p className="py-1">{t("text")}</p>
      <p className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <span className="inline-flex items-center gap-1">
          {t("curl")}
          <CopyButton text={line} label={t("copy")} />
        </span>
        <a href={apiPath(appApi(id, "openapi"))} target="_blank" rel="noreferrer" className="text-accent hover:underline">
          {t("openapi")}
        </a>
      </p>
    </details>
  );
}

/** With files the body is a form, otherwise JSON. */
export function curlLine(address: string, inputs: readonly AppField[]): string {
  const key = '-H "Authorization: Bearer $LIGHTDESK_TOKEN"';
  const shellQuote = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const shownInputs = inputs.filter(
    ({ isRequired, example, default: defaultValue }) => isRequired || example !== undefined || defaultValue !== undefined,
  );
  const hasFiles = shownInputs.some(({ control }) => isFileKind(control.kind));
  if (hasFiles) {
    const parts = shownInputs.map((input) =>
      isFileKind(input.control.kind)
        ? `-F ${shellQuote(`${input.name}=@${input.name}`)}`
        : `--form-string ${shellQuote(`${input.name}=${String(getExampleValue(input))}`)}`,
    );
    return ["curl", key, ...parts, shellQuote(address)].join(" ");
  }
  const body = writeExactJson({ inputs: Object.fromEntries(shownInputs.map((input) => [input.name, getExampleValue(input)])) });
  return ["curl", key, "-H 'Content-Type: application/json'", "-d", shellQuote(body), shellQuote(address)].join(" ");
}

function getExampleValue({ example, default: defaultValue, control }: AppField): unknown {
  if (example !== undefined || defaultValue !== undefined) return example ?? defaultValue;
  switch (control.kind) {
    case "switch":
      return false;
    case "number":
      return control.min ?? 0;
    case "seed":
      return "random";
    case "choice":
      return control.choices[0]?.value ?? "";
    default:
      return "text";
  }
}
