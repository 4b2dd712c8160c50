"use client";

import { useEffect } from "react";
import { Viewer } from "@/components/viewer/viewer";
import { workflowsOf } from "./read-workflow";
import { toViewerItem } from "./viewer-item-of";
import { type AssetsSource } from "./wall/assets-source";

type AssetsViewerProps = {
  source: AssetsSource;
  at: number;
  onMove: (at: number) => void;
  onClose: () => void;
  connectionId?: string;
  connection?: string;
};

/** The next few are read before they are shown. */
const AHEAD = 12;

/** Through the whole filtered list, as it stands, one asset at a time. */
export function AssetsViewer({ source, at, onMove, onClose, connectionId, connection }: AssetsViewerProps) {
  const { want, count } = source;
  useEffect(() => want(Math.max(0, at - AHEAD), Math.min(count, at + AHEAD)), [want, at, count]);
  return (
    <Viewer
      count={count}
      at={at}
      itemAt={(index) => {
        const asset = source.at(index);
        return asset && toViewerItem(asset, { connectionId, connection });
      }}
      onMove={onMove}
      onClose={onClose}
      readWorkflow={workflowsOf(connectionId)}
    />
  );
}
