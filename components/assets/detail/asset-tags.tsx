import { X } from "lucide-react";
import { useTranslations } from "next-intl";
import { useId, useState } from "react";
import { failureText } from "@/components/frame/failure/failure-text";
import { onlyTag } from "@/components/frame/tags/only-tag";
import { useTags } from "@/components/frame/tags/use-tags";
import { cn } from "@/components/ui/cn";
import { chipStyle } from "@/components/ui/controls/chip";
import { Link } from "@/components/ui/link";
import { withQuery } from "@/lib/browser/urls";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { readTags } from "@/lib/shared/text";
import { type AssetRights } from "../use-asset-rights";
import { type AssetEdits, type EditOutcome } from "./use-asset-edits";

type AssetTagsProps = {
  asset: AssetView;
  connectionId?: string;
  connection?: string;
  rights: AssetRights;
  edits: AssetEdits;
};

/** Edits the tags in place: each is a link to its assets, its cross removes it, and the last field adds one. */
export function AssetTags({ asset, connectionId, connection, rights, edits }: AssetTagsProps) {
  const t = useTranslations("assets.details");
  const mayAdd = rights.canTag && !asset.immutable;
  const mayRemove = rights.can("tags.remove") && !asset.immutable;
  return (
    <div>
      <ul aria-label={t("tags")} className="flex flex-wrap gap-1.5">
        {asset.tags.length === 0 && !mayAdd ? <li className="text-ink-3">{t("noTags")}</li> : null}
        {asset.tags.map((tag) => (
          <li key={tag} className={chipStyle(false, cn("max-w-full min-w-0", mayRemove && "pr-1"))}>
            <Link
              href={withQuery("/assets", { include_tags: tag, connection })}
              prefetch={false}
              className="truncate rounded-sm hover:underline"
            >
              {tag}
            </Link>
            {mayRemove ? (
              <button
                type="button"
                aria-label={t("removeTag", { tag })}
                title={t("removeTag", { tag })}
                onClick={() => edits.removeTag(tag)}
                className="grid size-5 shrink-0 place-items-center rounded-full text-ink-3 hover:bg-off-soft hover:text-ink"
              >
                <X aria-hidden="true" className="size-3" />
              </button>
            ) : null}
          </li>
        ))}
        {mayAdd ? (
          <li>
            <TagField connectionId={connectionId} has={asset.tags} onTags={edits.addTags} />
          </li>
        ) : null}
      </ul>
      <Outcome outcome={edits.outcome} />
    </div>
  );
}

function TagField({ connectionId, has, onTags }: { connectionId?: string; has: readonly string[]; onTags: (tags: string[]) => void }) {
  const t = useTranslations("assets.details");
  const [typed, setTyped] = useState<string>();
  const list = useId();
  const wanted = (typed ?? "").trim();
  // A text with a comma is a list of complete tags, so it is not searched as a part of one.
  const isTypedOut = wanted.includes(",");
  const { tags } = useTags(typed === undefined ? undefined : connectionId, isTypedOut ? "" : wanted);
  const known = tags.map(({ name }) => name).filter((tag) => !has.includes(tag));
  const offered = known.filter((tag) => tag.toLowerCase().includes(wanted.toLowerCase()));
  return (
    <form
      action={() => {
        const only = isTypedOut ? undefined : onlyTag(wanted, offered);
        const meant = only === undefined ? readTags(wanted) : [only];
        if (meant.length > 0) onTags(meant);
        setTyped("");
      }}
    >
      <input
        aria-label={t("addTag")}
        placeholder={t("addTagShort")}
        list={list}
        value={typed ?? ""}
        maxLength={200}
        autoComplete="off"
        onFocus={() => setTyped((now) => now ?? "")}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        className={chipStyle(false, "w-[72px] border-dashed placeholder:text-ink-2 focus:w-36", true)}
      />
      <datalist id={list}>
        {known.slice(0, 30).map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </form>
  );
}

function Outcome({ outcome }: { outcome: EditOutcome | undefined }) {
  const t = useTranslations("assets.details");
  const errors = useTranslations("errors");
  if (!outcome) return null;
  if (outcome.kind === "refused")
    return (
      <p role="alert" className="mt-1.5 text-bad">
        {failureText(errors, outcome.failure)}
      </p>
    );
  return (
    <p role="status" className="mt-1.5 text-ink-2">
      {outcome.kind === "absent" ? t("absent") : t(outcome.kind, { tag: outcome.tag })}
    </p>
  );
}
