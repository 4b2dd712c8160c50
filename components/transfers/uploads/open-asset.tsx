import { SquareArrowOutUpRight } from "lucide-react";
import { useTranslations } from "next-intl";
import { buttonStyle } from "@/components/ui/controls/button";
import { Link } from "@/components/ui/link";
import { withQuery } from "@/lib/browser/urls";

type OpenAssetProps = { assetId: string; name: string; connection?: string };

/** A link from a line of the tray to the stored asset. */
export function OpenAsset({ assetId, name, connection }: OpenAssetProps) {
  const t = useTranslations("uploads.act");
  return (
    <Link
      href={withQuery(`/assets/${encodeURIComponent(assetId)}`, { connection })}
      aria-label={`${t("open")}: ${name}`}
      title={t("open")}
      className={buttonStyle({ tone: "quiet", size: "small-icon" })}
    >
      <SquareArrowOutUpRight aria-hidden="true" className="size-3.5" />
    </Link>
  );
}
