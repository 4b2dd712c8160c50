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
import { type TimedValue, toInitialOptions, useLive } from "@/lib/browser/live/use-live";
import { createPersistedValue, tabStorage } from "@/lib/browser/persisted-value";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { type AppField, type AppView } from "@/lib/contract/apps/app";
import { isFileKind, RANDOM } from "@/lib/contract/apps/fill";
import { hasFeature } from "@/lib/contract/connections";
import { type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { asObject, getOwn } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { hasRole } from "@/lib/contract/members/roles";
import { type Result } from "@/lib/shared/result";
import { AppPicturePicker, createMaskTarget, findFileProblems, getAppFileUrl } from "./app-files";
import { AppForm, getFieldId } from "./app-form";
import { AppRuns, RESULTS_ID, useAppRuns } from "./app-runs";
import {
  type FieldProblem,
  type FieldValues,
  findProblems,
  getDefaultValues,
  parseProblems,
  toFormValues,
  toRunInputs,
} from "./app-values";
import { FavouriteButton } from "./apps-screen";
import { getAppApiPath, getAppPath } from "./apps-urls";
import { Presets } from "./presets";
import { RunRefusal } from "./run-problems";

type AppResponse = { app: AppView };
type AppScreenProps = { id: string; app: Promise<Result<TimedValue<AppView>, Failure>> };

const getApp = ({ app }: AppResponse) => app;

export function AppScreen({ id, app }: AppScreenProps) {
  const connectionParam = useConnectionParam();
  const t = useTranslations("apps");
  const initialResult = use(app);
  const live = useLive(getAppApiPath(id), { ...toInitialOptions(initialResult), read: getApp });
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
              <ButtonLink href={withQuery(getAppPath(id, "edit"), { connection: connectionParam })}>{t("edit")}</ButtonLink>
            ) : null}
          </>
        ) : null}
      </PageHeader>
      {view || live.failure ? null : <ContentSkeleton layout="split" />}
      {live.failure ? <FailureMessage failure={live.failure} onRetry={() => void live.refresh()} className="m-4 md:mx-5" /> : null}
      {view ? <AppContent app={view} onRun={live.refresh} /> : null}
    </>
  );
}

/** The picture context of the app's form. */
export function usePictureContext(app: string | undefined, canSend: boolean, connectionId?: string): PictureContext {
  const [ownNames, setOwnNames] = useState<Readonly<Record<string, string>>>({});
  const currentConnection = useConnection();
  const connection = useConnections().find(({ id }) => id === connectionId) ?? currentConnection;
  const id = connection?.id;
  const role = useRole();
  const canSeeAssets = hasFeature(connection, "assets") && (role === undefined || hasRole(role, "viewer"));
  const pictureApi = useMemo(() => createPictureApi(connection?.id, hasFeature(connection, "contentLookup")), [connection]);
  return {
    connection: id,
    canSend,
    ownNames,
    hidesFileNames: true,
    listAssets: pictureApi.listAssets,
    findStoredName: async () => undefined,
    sendPicture: pictureApi.sendPicture,
    ...(app !== undefined && {
      getSource: (value: string) => getAppFileUrl(app, value, 512),
      masks: createMaskTarget(app),
      ...(!canSeeAssets && { picker: (props: PickerProps) => <AppPicturePicker app={app} {...props} /> }),
    }),
    onNamed: (sentName, name) => setOwnNames((current) => ({ ...current, [sentName]: name })),
  };
}

const runCounts = [1, 2, 4, 8] as const;
const MAX_STORED_CHARACTERS = 1_000_000;
const parseValues = (storedValue: unknown): FieldValues => asObject(storedValue) ?? {};
/** Used by the server and until the page has hydrated. */
const EMPTY_VALUES: FieldValues = {};
const getEmptyValues = () => EMPTY_VALUES;

function AppContent({ app, onRun }: { app: AppView; onRun: () => Promise<void> }) {
  const t = useTranslations("apps");
  const { id, inputs, text, canRun, lastInputs } = app;
  const getDenialText = useDenialText();
  // Stored per tab, so that the values survive a reload.
  const [storedValues] = useState(() =>
    createPersistedValue(`lightdesk.app.${id}`, parseValues, tabStorage, { maxCharacters: MAX_STORED_CHARACTERS, parse: parseJson }),
  );
  const enteredValues = useSyncExternalStore(storedValues.subscribe, storedValues.get, getEmptyValues);
  // Typed values survive a new version of the app.
  const values = { ...getDefaultValues(inputs), ...enteredValues };
  const [problems, setProblems] = useState<readonly FieldProblem[]>([]);
  const [uploadingNames, setUploadingNames] = useState<readonly string[]>([]);
  const [count, setCount] = useState(1);
  const runs = useAppRuns(id);
  const picture = usePictureContext(id, canRun, app.connectionId);
  const hasRandomSeed = inputs.some(({ name, control }) => control.kind === "seed" && values[name] === RANDOM);
  const isBusy = runs.isSending || uploadingNames.length > 0;

  function showProblems(fieldProblems: readonly FieldProblem[]) {
    setProblems(fieldProblems);
    const [firstProblem] = fieldProblems;
    const field = firstProblem && document.getElementById(getFieldId(firstProblem.input));
    field?.focus({ preventScroll: true });
    field?.scrollIntoView?.({ block: "center" });
  }
  async function run(isRetry = false) {
    if (!canRun || isBusy) return;
    const appProblems = findProblems(inputs, values);
    if (appProblems.length > 0) return showProblems(appProblems);
    setProblems([]);
    const inputsToSend = toRunInputs(inputs, values);
    const failure = await (isRetry ? runs.retry(inputsToSend) : runs.send(inputsToSend, hasRandomSeed ? count : 1));
    const inputProblems = failure && parseProblems(failure, inputs);
    if (inputProblems) {
      runs.clearPending();
      showProblems(inputProblems);
    }
    // Scrolls to the new run, which may be below the form or scrolled away.
    else if (!failure) document.getElementById(RESULTS_ID)?.scrollIntoView?.({ block: "start" });
    await onRun();
  }
  async function fillForm(newValues: FieldValues) {
    storedValues.set(newValues);
    setProblems([]);
    const fileProblems = await findFileProblems(id, inputs, newValues);
    const currentProblems = fileProblems.filter(({ input }) => getOwn(storedValues.get(), input) === getOwn(newValues, input));
    setProblems((current) => [
      ...current.filter(({ input }) => !currentProblems.some((appProblem) => appProblem.input === input)),
      ...currentProblems,
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
          {...(lastInputs && { lastValues: toFormValues(inputs, lastInputs) })}
          onFill={(newValues) => void fillForm(newValues)}
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
              setUploadingNames((current) => [...current.filter((value) => value !== name), ...(isRunning ? [name] : [])])
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
                  {uploadingNames.length > 0 ? t("form.waiting") : runs.isSending ? t("form.sending") : t("form.run")}
                </Button>
                {hasRandomSeed ? (
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
      <AppRuns app={app} runs={runs} onReuse={(runValues) => void fillForm(toFormValues(inputs, runValues))} />
    </div>
  );
}

/** Shows how to run this app by API, with a shell command and a link to its OpenAPI document. */
function AppOperation({ app: { id, inputs } }: { app: AppView }) {
  const t = useTranslations("apps.operation");
  const getCommand = () => formatCurlCommand(new URL(apiPath(getAppApiPath(id, "runs")), window.location.origin).href, inputs);
  return (
    <details className="text-sm text-ink-2">
      <summary className="cursor-pointer py-1 hover:text-ink">{t("title")}</summary>
      <p className="py-1">{t("text")}</p>
      <p className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <span className="inline-flex items-center gap-1">
          {t("curl")}
          <CopyButton text={getCommand} label={t("copy")} />
        </span>
        <a href={apiPath(getAppApiPath(id, "openapi"))} target="_blank" rel="noreferrer" className="text-accent hover:underline">
          {t("openapi")}
        </a>
      </p>
    </details>
  );
}

/** Sends a form if an input is a file, otherwise JSON. */
export function formatCurlCommand(url: string, inputs: readonly AppField[]): string {
  const authHeader = '-H "Authorization: Bearer $LIGHTDESK_TOKEN"';
  const shellQuote = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const shownInputs = inputs.filter(
    ({ isRequired, example, default: defaultValue }) => isRequired || example !== undefined || defaultValue !== undefined,
  );
  const hasFiles = shownInputs.some(({ control }) => isFileKind(control.kind));
  if (hasFiles) {
    const formArguments = shownInputs.map((input) =>
      isFileKind(input.control.kind)
        ? `-F ${shellQuote(`${input.name}=@${input.name}`)}`
        : `--form-string ${shellQuote(`${input.name}=${String(getExampleValue(input))}`)}`,
    );
    return ["curl", authHeader, ...formArguments, shellQuote(url)].join(" ");
  }
  const body = writeExactJson({ inputs: Object.fromEntries(shownInputs.map((input) => [input.name, getExampleValue(input)])) });
  return ["curl", authHeader, "-H 'Content-Type: application/json'", "-d", shellQuote(body), shellQuote(url)].join(" ");
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
