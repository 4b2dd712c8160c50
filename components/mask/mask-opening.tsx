"use client";

import { useLocale, useTranslations } from "next-intl";
import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from "react";
import { FailureMessage } from "@/components/frame/failure-message";
import { PageHeader } from "@/components/frame/page-header";
import { EmptyState } from "@/components/ui/empty-state";
import { ProgressBar } from "@/components/ui/progress-bar";
import { useNumber } from "@/components/ui/use-numbers";
import { formatBytes } from "@/lib/shared/format";
import { keepWork, takeWork } from "./file/kept-work";
import { LONGEST_EDGE, MOST_BYTES, MOST_PIXELS } from "./file/limits";
import { type MaskSource } from "./file/mask-source";
import { type OpenSession, sessionOf } from "./file/mask-session";
import { type OpenMask, type OpenRefusal } from "./file/open-mask";
import { MaskEditor, type MaskEditorProps } from "./mask-editor";

type MaskOpeningProps = Omit<MaskEditorProps, "session" | "title" | "connection" | "note"> & {
  source: MaskSource;
  open: OpenMask;
  /** What a refusal offers. */
  wayBack?: ReactNode;
  /** It goes away with something unsaved; the drawing is kept in this tab. */
  onKept?: () => void;
};

type State =
  | { kind: "opening"; share?: number }
  | { kind: "refused"; refusal: OpenRefusal }
  | { kind: "open"; session: OpenSession; isFound: boolean };

/** Loads what is drawn on, or brings back what was being drawn. */
export function MaskOpening({ source, open, wayBack, onKept, ...editor }: MaskOpeningProps) {
  const t = useTranslations("masks");
  const [state, setState] = useState<State>({ kind: "opening" });
  const [tries, setTries] = useState(0);
  const session = useRef<OpenSession>(undefined);
  const load = useEffectEvent(async (signal: AbortSignal): Promise<State | undefined> => {
    const found = takeWork(source.key);
    if (found) {
      session.current = found;
      return { kind: "open", session: found, isFound: true };
    }
    const onProgress = (share: number) => setState((now) => (now.kind === "opening" ? { kind: "opening", share } : now));
    const opened = await open(source, { signal, onProgress });
    if (signal.aborted) {
      if (opened.ok) opened.value.picture?.close();
      return undefined;
    }
    if (!opened.ok) return { kind: "refused", refusal: opened.failure };
    session.current = sessionOf(opened.value);
    return { kind: "open", session: session.current, isFound: false };
  });
  const end = useEffectEvent((key: string) => {
    const ended = session.current;
    session.current = undefined;
    ended?.drawing.end();
    if (!ended?.drawing.state().isUnsaved) return ended?.opened.picture?.close();
    keepWork(key, ended);
    onKept?.();
  });
  useEffect(() => {
    const going = new AbortController();
    void load(going.signal).then((next) => {
      if (next && !going.signal.aborted) setState(next);
    });
    return () => {
      going.abort();
      end(source.key);
    };
  }, [source.key, tries]);

  const again = () => {
    setState({ kind: "opening" });
    setTries((now) => now + 1);
  };
  if (state.kind === "open") {
    const { opened } = state.session;
    const began = state.isFound ? t("kept.found") : opened.earlier === "none" ? undefined : t(`earlier.${opened.earlier}`);
    const note = [opened.isPreview ? t("status.preview") : undefined, began].filter(Boolean).join(" ");
    return <MaskEditor {...editor} session={state.session} title={source.title} connection={source.connection} note={note} />;
  }
  return (
    <div className="flex min-h-0 flex-1 flex-col bg-bg max-md:fixed max-md:inset-0 max-md:z-40 md:h-dvh">
      <PageHeader trail={editor.trail} title={<span className="break-all">{source.title}</span>}>
        {wayBack}
      </PageHeader>
      {state.kind === "opening" ? <Opening share={state.share} /> : <Refused refusal={state.refusal} name={source.title} onRetry={again} />}
    </div>
  );
}

function Opening({ share }: { share?: number }) {
  const t = useTranslations("masks");
  const locale = useLocale();
  return (
    <div role="status" className="grid flex-1 place-items-center bg-sunken">
      <span className="flex flex-col items-center gap-2 text-ink-2">
        {share === undefined ? t("loading") : t("loadingShare", { share: share.toLocaleString(locale, { style: "percent" }) })}
        <ProgressBar value={share ?? 0} label={t("loading")} className="w-40" />
      </span>
    </div>
  );
}

function Refused({ refusal, name, onRetry }: { refusal: OpenRefusal; name: string; onRetry: () => void }) {
  const t = useTranslations("masks.refused");
  const locale = useLocale();
  const number = useNumber();
  if (refusal.kind === "failed") return <FailureMessage failure={refusal.failure} onRetry={onRetry} className="m-4 md:mx-5" />;
  if (refusal.kind === "not-picture") return <EmptyState title={t("notPicture")} text={t("notPictureText")} />;
  if (refusal.kind === "broken") return <EmptyState title={t("broken")} text={t("brokenText", { name })} />;
  if (refusal.kind === "unknown-size") return <EmptyState title={t("unknownSize")} text={t("unknownSizeText")} />;
  const { why } = refusal;
  const text =
    why.reason === "bytes"
      ? t("bytes", { name, size: formatBytes(why.bytes, locale), most: formatBytes(MOST_BYTES, locale) })
      : why.reason === "edge"
        ? t("edge", { name, width: number(why.width), height: number(why.height), most: number(LONGEST_EDGE) })
        : t("pixels", {
            name,
            width: number(why.width),
            height: number(why.height),
            count: number(Math.round((why.width * why.height) / 1e6)),
            most: number(Math.floor(MOST_PIXELS / 1e6)),
          });
  return <EmptyState title={t("tooLarge")} text={text} />;
}
