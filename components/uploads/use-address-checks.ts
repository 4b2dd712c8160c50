"use client";

import { useEffect, useEffectEvent, useMemo, useRef, useState } from "react";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { isObject, numberOf, textOf } from "@/lib/contract/json";
import { type Result } from "@/lib/shared/result";
import { type Address } from "./address";

export type SourceFacts = { name?: string; sizeBytes?: number; picture?: string; errors: string[]; warnings: string[] };
export type SourceCheck =
  { kind: "asking" } | { kind: "known"; facts: SourceFacts } | { kind: "refused"; failure: ApiFailure } | { kind: "untold" };

/** Somebody still types. */
const PAUSE_MS = 400;
const AT_ONCE = 3;

type Metadata = { content_length?: unknown; filename?: unknown; name?: unknown; preview_image?: unknown; validation?: unknown };

/** What the service says of each address before it is fetched: asked once an address, three at a time, while the dialog is open. */
export function useAddressChecks(addresses: readonly Address[], connection: string | undefined): ReadonlyMap<string, SourceCheck> {
  const [checks, setChecks] = useState<ReadonlyMap<string, SourceCheck>>(new Map());
  const asked = useRef(new Set<string>());
  const isAbsent = useRef(false);
  const wanted = useMemo(() => addresses.filter(({ fault }) => fault === undefined).map(({ url }) => url), [addresses]);
  const put = (url: string, check: SourceCheck) => setChecks((now) => new Map(now).set(url, check));

  const askAll = useEffectEvent((signal: AbortSignal) => {
    const waiting = wanted.filter((url) => !asked.current.has(url));
    const lane = async () => {
      for (let url = waiting.shift(); url !== undefined && !signal.aborted; url = waiting.shift()) {
        if (isAbsent.current) {
          put(url, { kind: "untold" });
          continue;
        }
        asked.current.add(url);
        put(url, { kind: "asking" });
        const answer = await callApi<Metadata>(withQuery("/api/assets/remote-metadata", { url, connection }), {
          signal,
          cache: "no-store",
        });
        if (signal.aborted) {
          asked.current.delete(url);
          return;
        }
        const check = toCheck(answer);
        isAbsent.current ||= check.kind === "untold";
        put(url, check);
      }
    };
    for (let at = 0; at < AT_ONCE; at++) void lane();
  });
  useEffect(() => {
    const typing = new AbortController();
    const timer = setTimeout(() => askAll(typing.signal), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      typing.abort();
    };
  }, [wanted]);
  return checks;
}

function toCheck(answer: Result<Metadata, ApiFailure>): SourceCheck {
  if (answer.ok) return { kind: "known", facts: toFacts(answer.value ?? {}) };
  const { status } = answer.failure;
  return status === 404 || status === 405 || status === 501 ? { kind: "untold" } : { kind: "refused", failure: answer.failure };
}

function toFacts({ content_length, filename, name, preview_image, validation }: Metadata): SourceFacts {
  const size = numberOf(content_length);
  const picture = textOf(preview_image);
  const said = isObject(validation) ? validation : {};
  return {
    name: textOf(name) ?? textOf(filename),
    ...(size !== undefined && size >= 0 && { sizeBytes: size }),
    // Anything but a picture in the answer itself would be fetched from elsewhere.
    ...(picture !== undefined && /^data:image\/(png|jpeg|webp|gif|avif);/i.test(picture) && { picture }),
    errors: said.is_valid === false ? messagesOf(said.errors) : [],
    warnings: messagesOf(said.warnings),
  };
}

function messagesOf(list: unknown): string[] {
  const items: unknown[] = Array.isArray(list) ? list : [];
  const texts = items.map((item) => (isObject(item) ? (textOf(item.message) ?? textOf(item.code)) : textOf(item)));
  return texts.filter((text) => text !== undefined).slice(0, 5);
}
