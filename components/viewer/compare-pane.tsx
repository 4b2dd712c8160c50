import { useTranslations } from "next-intl";
import { cn } from "@/components/ui/cn";
import { FileName } from "@/components/ui/cut";
import { type Size, type Viewport } from "@/components/ui/hooks/viewport";
import { whileShown } from "@/components/ui/pictures/picture";
import { shownPictureUrl } from "@/lib/browser/urls";
import { StandIn } from "./stand-in";
import { type ViewerItem } from "./viewer-item";

type ComparePaneProps = {
  item: ViewerItem;
  /** Its number, as used in the text below. */
  number: number;
  /** Its natural size; undefined until it has loaded, "broken" if it cannot load. */
  own: Size | "broken" | undefined;
  /** The largest size of all pictures: each is drawn at this size. */
  content: Size;
  view: Viewport;
  /** The part that the slider leaves visible, as a CSS clip; if absent, the pane is beside others. */
  clip?: string;
  isCaptionRight?: boolean;
  onSize: (size: Size | "broken") => void;
};

/** One of the pictures that move together. */
export function ComparePane({ item, number, own, content, view, clip, isCaptionRight = false, onSize }: ComparePaneProps) {
  const t = useTranslations("viewer");
  const isThere = own !== undefined && own !== "broken";
  const { x, y, ...drawn } = drawnIn(content, isThere ? own : undefined);
  const arrived = ({ naturalWidth: width, naturalHeight: height }: HTMLImageElement) => onSize(width > 0 ? { width, height } : "broken");
  return (
    <figure
      style={{ clipPath: clip }}
      className={cn("overflow-hidden bg-bg", clip === undefined ? "relative border-r border-b border-line" : "absolute inset-0")}
    >
      {isThere ? null : <StandIn poster={item.poster} size={item} lost={own === "broken" ? shownPictureUrl(item.src) : undefined} />}
      {/* eslint-disable-next-line @next/next/no-img-element -- the private bytes themselves, in their own size, which no optimiser may see */}
      <img
        ref={whileShown}
        src={shownPictureUrl(item.src)}
        alt={item.name}
        hidden={!isThere}
        draggable={false}
        onLoad={({ currentTarget }) => arrived(currentTarget)}
        onError={({ currentTarget }) => arrived(currentTarget)}
        style={{
          ...drawn,
          transform: `translate(${view.x + x * view.scale}px, ${view.y + y * view.scale}px) scale(${view.scale})`,
          backgroundSize: `${16 / view.scale}px ${16 / view.scale}px`,
          imageRendering: view.scale >= 3 ? "pixelated" : undefined,
          // A hairline at every scale, so that even a white picture on a light ground has an edge.
          outlineWidth: `${1 / view.scale}px`,
        }}
        className="see-through absolute top-0 left-0 max-w-none origin-top-left outline outline-ink/25"
      />
      <figcaption
        className={cn(
          "pointer-events-none absolute top-2 truncate rounded-sm bg-surface/90 px-1.5 py-0.5 text-sm",
          isCaptionRight ? "right-2" : "left-2",
          clip === undefined ? "max-w-[calc(100%-16px)]" : "max-w-[45%]",
        )}
      >
        {number} · <FileName name={item.name} /> {item.note ? <span className="text-ink-2">{item.note}</span> : null}{" "}
        {isThere ? <span className="text-ink-2 tabular-nums">{t("size", own)}</span> : null}
      </figcaption>
    </figure>
  );
}

/** As large as possible inside the largest size, and centred: the background shows around it. */
function drawnIn(content: Size, own: Size | undefined): Size & { x: number; y: number } {
  if (!own || own.width * own.height === 0) return { ...content, x: 0, y: 0 };
  const scale = Math.min(content.width / own.width, content.height / own.height);
  const [width, height] = [own.width * scale, own.height * scale];
  return { width, height, x: (content.width - width) / 2, y: (content.height - height) / 2 };
}
