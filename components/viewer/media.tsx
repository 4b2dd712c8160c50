import { useEffect, useEffectEvent, useRef } from "react";

type MediaProps = {
  kind: "video" | "audio";
  src: string;
  label: string;
  poster?: string;
  onReady?: () => void;
  /** Its bytes cannot be loaded, or the browser does not know their format. */
  onBroken: () => void;
  className?: string;
};

/** A player. Only the duration is loaded before it plays; seeking requests byte ranges. */
export function Media({ kind, label, onReady, onBroken, ...rest }: MediaProps) {
  const media = useRef<HTMLVideoElement & HTMLAudioElement>(null);
  const lookAtOnce = useEffectEvent(() => {
    // A player in the first HTML may have failed before React was listening.
    if (media.current?.error) onBroken();
  });
  useEffect(() => lookAtOnce(), []);
  const Element = kind;
  return <Element ref={media} {...rest} controls preload="metadata" aria-label={label} onLoadedData={onReady} onError={onBroken} />;
}
