import { useLocale, useTranslations } from "next-intl";
import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { PageHeader } from "@/components/frame/page-header";
import { Button } from "@/components/ui/controls/button";
import { EmptyState } from "@/components/ui/empty-state";
import { useFilePicker } from "@/components/ui/hooks/use-file-picker";
import { ProgressBar } from "@/components/ui/skeleton";
import { useNumberFormat } from "@/components/ui/time";
import { showToast } from "@/components/ui/toast-store";
import { isNotFound } from "@/lib/contract/failure";
import { formatBytes } from "@/lib/shared/text";
import { createSession, type OpenSession, removeSession, storeSession } from "./file/mask-session";
import { type MaskSource, MAX_BYTES, MAX_EDGE, MAX_PIXELS } from "./file/mask-source";
import { type OpenError, type OpenMask } from "./file/open-mask";
import { MaskEditor, type MaskEditorProps } from "./mask-editor";

type MaskLoaderProps = Omit<MaskEditorProps, "session" | "title" | "connection" | "note"> & {
  source: MaskSource;
  open: OpenMask;
  /** The action in the header while the image is loading or if it can't be opened. */
  backAction?: ReactNode;
  /** Called when the editor closes with unsaved changes. The drawing is kept in this tab. */
  onStored?: () => void;
};

type State =
  | { kind: "opening"; progress?: number }
  | { kind: "refused"; error: OpenError }
  | { kind: "open"; session: OpenSession; isRestored: boolean };

/** Loads the image, or restores the unsaved drawing. */
export function MaskLoader({ source, open, backAction, onStored, ...editorProps }: MaskLoaderProps) {
  const t = useTranslations("masks");
  const [state, setState] = useState<State>({ kind: "opening" });
  const [attempt, setAttempt] = useState<{ file?: File }>({});
  const session = useRef<OpenSession>(undefined);
  const load = useEffectEvent(async (signal: AbortSignal): Promise<State | undefined> => {
    const openSession = removeSession(source.key);
    if (openSession) {
      session.current = openSession;
      return { kind: "open", session: openSession, isRestored: true };
    }
    const onProgress = (progress: number) => setState((current) => (current.kind === "opening" ? { kind: "opening", progress } : current));
    const result = await open(source, { signal, onProgress, file: attempt.file });
    if (signal.aborted) {
      if (result.ok) result.value.picture?.close();
      return undefined;
    }
    if (!result.ok) return { kind: "refused", error: result.failure };
    session.current = createSession(result.value);
    return { kind: "open", session: session.current, isRestored: false };
  });
  const storeOnClose = useEffectEvent((key: string) => {
    const openSession = session.current;
    session.current = undefined;
    openSession?.drawing.endStroke();
    if (!openSession?.drawing.getState().isUnsaved) return openSession?.mask.picture?.close();
    const lostNames = storeSession(key, { session: openSession, name: source.title });
    onStored?.();
    for (const name of lostNames) showToast({ tone: "bad", text: t("kept.lost", { name }) });
  });
  useEffect(() => {
    const controller = new AbortController();
    void load(controller.signal).then((nextState) => {
      if (nextState && !controller.signal.aborted) setState(nextState);
    });
    return () => {
      controller.abort();
      storeOnClose(source.key);
    };
  }, [source.key, attempt]);

  const retry = (file?: File) => {
    setState({ kind: "opening" });
    setAttempt({ file });
  };
  if (state.kind === "open") {
    const { mask } = state.session;
    const initialNote = state.isRestored ? t("kept.found") : mask.earlier === "none" ? undefined : t(`earlier.${mask.earlier}`);
    const note = [mask.isPreview ? t("status.preview") : undefined, initialNote].filter(Boolean).join(" ");
    return <MaskEditor {...editorProps} session={state.session} title={source.title} connection={source.connection} note={note} />;
  }
  return (
    <div className="flex min-h-0 flex-1 flex-col bg-bg max-md:fixed max-md:inset-0 max-md:z-40 md:h-[calc(100*var(--dvh))]">
      <PageHeader trail={editorProps.trail} title={<span className="break-all">{source.title}</span>}>
        {backAction}
      </PageHeader>
      {state.kind === "opening" ? (
        <OpeningProgress progress={state.progress} />
      ) : (
        <OpenFailure
          error={state.error}
          name={source.title}
          isListed={source.assetId !== undefined}
          onRetry={() => retry()}
          onFile={retry}
        />
      )}
    </div>
  );
}

function OpeningProgress({ progress }: { progress?: number }) {
  const t = useTranslations("masks");
  const locale = useLocale();
  return (
    <div role="status" className="grid flex-1 place-items-center bg-sunken">
      <span className="flex flex-col items-center gap-2 text-ink-2">
        {progress === undefined ? t("loading") : t("loadingShare", { share: progress.toLocaleString(locale, { style: "percent" }) })}
        <ProgressBar value={progress ?? 0} label={t("loading")} className="w-40" />
      </span>
    </div>
  );
}

type OpenFailureProps = {
  error: OpenError;
  name: string;
  /** Whether the service lists the file. A listed file may exist without being downloadable. */
  isListed: boolean;
  onRetry: () => void;
  onFile: (file: File) => void;
};

/** Explains why the image can't be opened, and the remedy. */
function OpenFailure({ error, name, isListed, onRetry, onFile }: OpenFailureProps) {
  const t = useTranslations("masks.refused");
  const locale = useLocale();
  const formatNumber = useNumberFormat();
  const pickButton = <OriginalFilePicker onFile={onFile} />;
  if (error.kind === "failed") {
    if (!isNotFound(error.failure)) return <FailureMessage failure={error.failure} onRetry={onRetry} className="m-4 md:mx-5" />;
    if (isListed) return <EmptyState title={t("notHandedOut")} text={t("pickText")} action={pickButton} />;
    return (
      <>
        <FailureMessage failure={error.failure} onRetry={onRetry} actions={pickButton} className="m-4 md:mx-5" />
        <p className="mx-4 max-w-[70ch] text-ink-2 md:mx-5">{t("pickText")}</p>
      </>
    );
  }
  if (error.kind === "other-file") {
    const text = t("otherFileText", { size: formatBytes(error.bytes, locale), expected: formatBytes(error.expectedBytes, locale) });
    return <EmptyState title={t("otherFile")} text={text} action={pickButton} />;
  }
  if (error.kind === "not-picture") return <EmptyState title={t("notPicture")} text={t("notPictureText")} />;
  if (error.kind === "broken") return <EmptyState title={t("broken")} text={t("brokenText", { name })} />;
  if (error.kind === "unknown-size")
    return <EmptyState title={t("unknownSize")} text={`${t("unknownSizeText")} ${t("pickText")}`} action={pickButton} />;
  const { why: problem } = error;
  const text =
    problem.reason === "bytes"
      ? t("bytes", { name, size: formatBytes(problem.bytes, locale), max: formatBytes(MAX_BYTES, locale) })
      : problem.reason === "edge"
        ? t("edge", { name, width: formatNumber(problem.width), height: formatNumber(problem.height), max: formatNumber(MAX_EDGE) })
        : t("pixels", {
            name,
            width: formatNumber(problem.width),
            height: formatNumber(problem.height),
            count: formatNumber(Math.round((problem.width * problem.height) / 1e6)),
            max: formatNumber(Math.floor(MAX_PIXELS / 1e6)),
          });
  return <EmptyState title={t("tooLarge")} text={text} />;
}

/** Opens a file picker to choose the same file from this computer. */
function OriginalFilePicker({ onFile }: { onFile: (file: File) => void }) {
  const t = useTranslations("masks.refused");
  const { input, open } = useFilePicker({ accept: "image/*", testId: "mask-original", onFiles: ([file]) => file && onFile(file) });
  return (
    <>
      <Button onClick={open}>{t("pick")}</Button>
      {input}
    </>
  );
}
