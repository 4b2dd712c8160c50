import { useEffect, useEffectEvent, useRef } from "react";

type MediaProps = {
  kind: "video" | "audio";
  src: string;
  label: string;
  poster?: string;
  onReady?: () => void;
  /** Its bytes do not come, or the browser does not know their kind. */
  onBroken: () => void;
  className?: string;
};

/** Plays. Only the length is asked for before a person plays it; seeking asks for ranges. */
export function Media({ kind, label, onReady, onBroken, ...rest }: MediaProps) {
  const media = useRef<HTMLVideoElement & HTMLAudioElement>(null);
  const lookAtOnce = useEffectEvent(() => {
    // A player of the first HTML may have failed before React was there to hear of it.
    if (media.current?.error) onBroken();
  });
  useEffect(() => lookAtOnce(), []);
  const Element = kind;
  return <Element ref={media} {...rest} controls preload="metadata" aria-label={label} onLoadedData={onReady} onError={onBroken} />;
}
