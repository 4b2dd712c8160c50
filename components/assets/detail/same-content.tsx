import { useTranslations } from "next-intl";
import { useState } from "react";
import { failureText } from "@/components/frame/failure/failure-text";
import { Button } from "@/components/ui/controls/button";
import { FileName } from "@/components/ui/cut";
import { Link } from "@/components/ui/link";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { assetHref } from "../asset-urls";
import { readAssets } from "../read-assets";
import { bySize, findSameContent, type SameContentFound } from "./find-same-content";

type SameContentProps = { asset: AssetView; connectionId?: string; connection?: string };
type Looking = "looking" | { found: SameContentFound } | { failure: ApiFailure };

const SHOWN = 10;

/** Searched on a click, as it costs the service some requests. */
export function SameContent({ asset, connectionId, connection }: SameContentProps) {
  const t = useTranslations("assets.same");
  const errors = useTranslations("errors");
  const [looking, setLooking] = useState<Looking>();
  async function look() {
    setLooking("looking");
    const result = await findSameContent(asset, (place) => readAssets({ query: bySize, connectionId }, place));
    setLooking(result.ok ? { found: result.value } : { failure: result.failure });
  }
  if (looking === undefined || looking === "looking") {
    return (
      <Button size="small" busy={looking === "looking"} onClick={() => void look()}>
        {t(looking === "looking" ? "looking" : "look")}
      </Button>
    );
  }
  if ("failure" in looking) {
    return (
      <span role="alert" className="text-bad">
        {failureText(errors, looking.failure)}{" "}
        <Button size="small" onClick={() => void look()}>
          {t("again")}
        </Button>
      </span>
    );
  }
  const { found } = looking;
  if (found.kind === "cannot") return <span role="status">{t("cannot")}</span>;
  return (
    <span role="status">
      {t(found.kind, { count: found.others.length })}
      {found.others.length > 0 ? (
        <ul className="mt-1 flex flex-col gap-0.5">
          {found.others.slice(0, SHOWN).map(({ id, name }) => (
            <li key={id} className="min-w-0 truncate">
              <Link href={assetHref(id, connection)} prefetch={false} title={id} className="text-accent underline-offset-2 hover:underline">
                <FileName name={name} />
              </Link>
            </li>
          ))}
          {found.others.length > SHOWN ? <li className="text-ink-3">{t("more", { count: found.others.length - SHOWN })}</li> : null}
        </ul>
      ) : null}
    </span>
  );
}
