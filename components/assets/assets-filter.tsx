"use client";

import Link from "next/link";
import { useRouter } from "next/navigation";
import { useTranslations } from "next-intl";
import { type FormEvent, useEffect, useEffectEvent, useState } from "react";
import { chipStyle } from "@/components/ui/chip";
import { cn } from "@/components/ui/cn";
import { Input } from "@/components/ui/input";
import { Select } from "@/components/ui/select";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { assetsHref, shownTags, sortings, tagState, withNextTagState } from "./assets-address";

type AssetsFilterProps = { query: AssetsQuery; connection?: string };

const TYPING_MS = 300;

/** Everything that narrows the view is in the address: a reload, a link and Back bring the same pictures. */
export function AssetsFilter({ query, connection }: AssetsFilterProps) {
  const t = useTranslations("assets");
  const router = useRouter();
  const href = (change: Partial<AssetsQuery>) => assetsHref(query, { ...change, offset: 0, connection });
  const sorting = sortings.find(({ sort, order }) => sort === query.sort && order === query.order);
  return (
    <>
      <NameField
        name={query.name_contains ?? ""}
        onName={(name) => router.replace(href({ name_contains: name || undefined }), { scroll: false })}
      />
      {shownTags(query).map((tag) => {
        const state = tagState(query, tag);
        return (
          <Link
            key={tag}
            href={href(withNextTagState(query, tag))}
            scroll={false}
            aria-label={t(`filter.tag.${state}`, { tag })}
            className={chipStyle(state === "include", cn("max-w-48", state === "exclude" && "border-control line-through"))}
          >
            <span className="truncate">{tag}</span>
          </Link>
        );
      })}
      <TagField onTag={(tag) => router.push(href({ include_tags: [...(query.include_tags ?? []), tag] }), { scroll: false })} />
      <Link
        href={href({ include_public: !query.include_public })}
        scroll={false}
        aria-current={query.include_public ? "true" : undefined}
        className={chipStyle(query.include_public)}
      >
        {t("filter.shared")}
      </Link>
      <Select
        aria-label={t("filter.sort")}
        value={sorting?.key ?? ""}
        onChange={({ target }) => {
          const chosen = sortings.find(({ key }) => key === target.value);
          if (chosen) router.push(href({ sort: chosen.sort, order: chosen.order }));
        }}
        className="ml-auto shrink-0"
      >
        {sorting ? null : <option value="">{`${query.sort} ${query.order}`}</option>}
        {sortings.map(({ key }) => (
          <option key={key} value={key}>
            {t(`sort.${key}`)}
          </option>
        ))}
      </Select>
    </>
  );
}

/** Asks when the typing pauses. */
function NameField({ name, onName }: { name: string; onName: (name: string) => void }) {
  const t = useTranslations("assets.filter");
  const [draft, setDraft] = useState(name);
  const [asked, setAsked] = useState(name);
  // Back and a pressed chip change the address without this field.
  if (name !== asked) {
    setAsked(name);
    setDraft(name);
  }
  const ask = useEffectEvent((text: string) => {
    setAsked(text);
    onName(text);
  });
  useEffect(() => {
    if (draft.trim() === name) return;
    const timer = setTimeout(() => ask(draft.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [draft, name]);
  return (
    <Input
      type="search"
      aria-label={t("name")}
      placeholder={t("namePlaceholder")}
      maxLength={500}
      value={draft}
      onChange={({ target }) => setDraft(target.value)}
      className="w-[220px] shrink-0"
    />
  );
}

function TagField({ onTag }: { onTag: (tag: string) => void }) {
  const t = useTranslations("assets.filter");
  const [tag, setTag] = useState("");
  function submit(event: FormEvent) {
    event.preventDefault();
    // A comma would be two tags in the interface's list.
    const wanted = tag.replaceAll(",", " ").trim();
    if (wanted === "") return;
    setTag("");
    onTag(wanted);
  }
  return (
    <form onSubmit={submit} className="shrink-0">
      <input
        aria-label={t("addTagLabel")}
        placeholder={`+ ${t("addTag")}`}
        maxLength={200}
        value={tag}
        onChange={({ target }) => setTag(target.value)}
        className={chipStyle(false, "w-[76px] border-dashed border-control placeholder:text-ink-2 focus:w-36")}
      />
    </form>
  );
}
