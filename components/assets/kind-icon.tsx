import { AudioLines, Box, File as FileIcon, FileText, Film, Image as ImageIcon, type LucideIcon } from "lucide-react";
import { type FileKind } from "@/lib/contract/views/outputs-view";

const icons: Readonly<Record<FileKind, LucideIcon>> = {
  image: ImageIcon,
  video: Film,
  audio: AudioLines,
  text: FileText,
  "3d": Box,
  file: FileIcon,
};

export function KindIcon({ kind, className }: { kind: FileKind; className?: string }) {
  const Icon = icons[kind];
  return <Icon aria-hidden="true" strokeWidth={1.5} className={className} />;
}
