import { Expand, Grid2x2, List, Maximize, Minimize } from "lucide-react";
import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { type ListState } from "@/components/frame/list/use-list-state";
import { Button } from "@/components/ui/controls/button";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { assetsHref, viewHref } from "./assets-address";
import { type AssetsLook } from "./assets-look";
import { SortSelect } from "./filter/sort-select";
import { tileSizes } from "./wall/wall-layout";

const ViewsDialog = dynamic(() => import("@/components/frame/list/views-dialog").then((module) => module.ViewsDialog), { ssr: false });

type AssetsToolsProps = {
  place: ListState<AssetsQuery>;
  look: AssetsLook;
  onLook: (change: Partial<AssetsLook>) => void;
  /** Absent where there are no assets. */
  onView: (() => void) | undefined;
  linked: string | undefined;
  canShare: boolean;
};

/** The view's own tools, on the right of the tool bar. */
export function AssetsTools({ place, look, onLook, onView, linked, canShare }: AssetsToolsProps) {
  const t = useTranslations("assets");
  const [isOpen, setOpen] = useState(false);
  const isGallery = look.look === "gallery";
  const pressed = (isOn: boolean) => (isOn ? "border-ink bg-off-soft" : undefined);
  return (
    <>
      <SortSelect place={place} />
      <Button aria-haspopup="dialog" onClick={() => setOpen(true)}>
        {t("views.open")} <span aria-hidden="true">▾</span>
      </Button>
      {onView ? (
        <Button size="icon" aria-label={t("look.view")} title={t("look.view")} onClick={onView}>
          <Expand aria-hidden="true" className="size-4" />
        </Button>
      ) : null}
      <Button
        size="icon"
        aria-label={t("look.gallery")}
        title={t("look.gallery")}
        aria-pressed={isGallery}
        onClick={() => onLook({ look: "gallery" })}
        className={pressed(isGallery)}
      >
        <Grid2x2 aria-hidden="true" className="size-4" />
      </Button>
      <Button
        size="icon"
        aria-label={t("look.table")}
        title={t("look.table")}
        aria-pressed={!isGallery}
        onClick={() => onLook({ look: "table" })}
        className={pressed(!isGallery)}
      >
        <List aria-hidden="true" className="size-4" />
      </Button>
      {isGallery ? (
        <>
          <input
            type="range"
            min={0}
            max={tileSizes.length - 1}
            step={1}
            value={tileSizes.indexOf(look.size)}
            aria-label={t("look.size")}
            aria-valuetext={t(`look.sizes.${look.size}`)}
            title={t("look.size")}
            onChange={({ currentTarget }) => onLook({ size: tileSizes[Number(currentTarget.value)] ?? "medium" })}
            className="w-[72px] shrink-0"
          />
          <Button
            size="icon"
            aria-label={t("look.whole")}
            title={t("look.whole")}
            aria-pressed={look.fit === "whole"}
            onClick={() => onLook({ fit: look.fit === "whole" ? "fill" : "whole" })}
            className={pressed(look.fit === "whole")}
          >
            {look.fit === "whole" ? <Maximize aria-hidden="true" className="size-4" /> : <Minimize aria-hidden="true" className="size-4" />}
          </Button>
        </>
      ) : null}
      {isOpen ? (
        <ViewsDialog
          screen="assets"
          query={assetsHref({ ...place.query, offset: 0 }, { look }).split("?")[1] ?? ""}
          hrefOf={(query) => viewHref(query, linked)}
          canShare={canShare}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </>
  );
}
