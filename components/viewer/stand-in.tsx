import { ImageOff } from "lucide-react";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { cn } from "@/components/ui/cn";
import { type Size } from "@/components/ui/hooks/viewport";
import { useLostReason, whileShown } from "@/components/ui/pictures/picture";
import { Skeleton } from "@/components/ui/skeleton";

type StandInProps = {
  poster?: string;
  /** The size of the whole picture, if known: the smaller one is not drawn larger. */
  size?: Partial<Size>;
  /** The URL, if the file could not be shown. */
  lost: string | undefined;
};

/** The smaller picture until the whole one has loaded; without it, a note that it is loading, or that it failed. */
export function StandIn({ poster, size, lost }: StandInProps) {
  const t = useTranslations("viewer");
  const common = useTranslations("common");
  const [lostPoster, setLostPoster] = useState<string>();
  const reason = useLostReason(lost);
  const isSeen = poster !== undefined && poster !== lostPoster;
  return (
    <>
      {isSeen ? (
        // eslint-disable-next-line @next/next/no-img-element -- our own thumbnail route has made it already
        <img
          ref={whileShown}
          src={poster}
          alt=""
          onError={() => setLostPoster(poster)}
          style={{ maxWidth: size?.width, maxHeight: size?.height }}
          className="absolute inset-0 m-auto size-full object-contain"
        />
      ) : null}
      {lost !== undefined ? (
        <p
          className={cn(
            "absolute inset-x-0 mx-auto flex w-fit flex-col items-center gap-2 rounded-sm bg-surface/90 px-2 py-1 text-ink-2",
            isSeen ? "bottom-3" : "top-1/2 -translate-y-1/2",
          )}
        >
          {isSeen ? null : <ImageOff aria-hidden="true" className="size-8 text-ink-3" />}
          {typeof reason === "object" ? common("tooLarge", reason) : t("broken")}
        </p>
      ) : isSeen ? null : (
        <span role="status" aria-label={t("loading")} className="absolute inset-0 grid place-items-center">
          <Skeleton className="size-[min(60%,420px)]" />
        </span>
      )}
    </>
  );
}
