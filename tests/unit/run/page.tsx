// The Run page without a network, with the test's fake service.
import { File } from "node:buffer";
import { act, fireEvent, screen } from "@testing-library/react";
import { type RunApi } from "@/components/run/run-actions";
import { RunScreen } from "@/components/run/run-screen";
import { createRunStore } from "@/components/run/run-store";
import { type ByteSource } from "@/lib/browser/files/byte-source";
import { failed, ok } from "@/lib/shared/result";
import { sampleText } from "./files";
import { type startPromptServer } from "./prompt-server";
import { renderPage } from "./render";

export type PromptServer = Awaited<ReturnType<typeof startPromptServer>>;

const unreachable = { code: "CONSOLE_UNREACHABLE", message: "", status: 0 };

/** An API with only the responses that a test passes in. */
export function createApi(service: Pick<PromptServer, "send"> | undefined, ports: Partial<RunApi> = {}): RunApi {
  return {
    sendPrompt: service?.send ?? (async () => failed(unreachable)),
    reportSubmission: async () => failed(unreachable),
    recentJobs: async () => failed(unreachable),
    sendPicture: async () => failed({ code: "INTERNAL", message: "", status: 500 }),
    loadSample: async (name) => ok(sampleText(name)),
    readJob: async () => failed(unreachable),
    readStored: async () => failed(unreachable),
    readFile: async () => failed(unreachable),
    readCatalogue: async () => failed(unreachable),
    listStored: async () => failed(unreachable),
    readApp: async () => failed(unreachable),
    readAsset: async () => failed(unreachable),
    listAssets: async () => failed(unreachable),
    storedName: async () => undefined,
    ...ports,
  };
}

export function show(ports: RunApi, canRun = true) {
  return renderPage(<RunScreen canRun={canRun} memberId="ada" store={createRunStore()} api={ports} />);
}

export async function openText(text: string) {
  fireEvent.paste(document.body, { clipboardData: { files: [], getData: () => text } });
  await screen.findAllByRole("button", { name: "Run" });
}

export async function drop(name: string, content: string | Uint8Array, type = "application/json", on: Element | Window = window) {
  const file = new File([content], name, { type });
  await act(async () => void fireEvent.drop(on, { dataTransfer: { types: ["Files"], files: [file] } }));
}

/** A stored file's content. */
export function createByteSource(content: string | Uint8Array): ByteSource {
  const bytes = new Uint8Array(Buffer.from(content));
  return { size: bytes.length, read: async (from, to) => bytes.slice(from, to), text: async () => new TextDecoder().decode(bytes) };
}

export const field = (name: string) => screen.getByRole<HTMLInputElement>("textbox", { name });
// The page has two: in the header, and at the bottom of narrow screens.
export const runButton = () => screen.getAllByRole("button", { name: "Run" })[0] ?? document.body;
export const pressRun = () => fireEvent.click(runButton());
