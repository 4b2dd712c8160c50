// Renders the Run page without a network and interacts with it.
import { File } from "node:buffer";
import { act, fireEvent, screen } from "@testing-library/react";
import { type RunApi } from "@/components/run/run-actions";
import { RunScreen } from "@/components/run/run-screen";
import { createRunStore } from "@/components/run/run-store";
import { type ByteSource } from "@/lib/browser/files/byte-source";
import { failed, ok } from "@/lib/shared/result";
import { type startPromptServer } from "./prompt-server";
import { renderPage } from "./render";
import { readSampleText } from "./workflow-fixtures";

export type PromptServer = Awaited<ReturnType<typeof startPromptServer>>;

const unreachable = { code: "CONSOLE_UNREACHABLE", message: "", status: 0 };

/** Creates an API that fails every request except those that the test overrides. */
export function createApi(service: Pick<PromptServer, "send"> | undefined, overrides: Partial<RunApi> = {}): RunApi {
  return {
    sendPrompt: service?.send ?? (async () => failed(unreachable)),
    reportSubmission: async () => failed(unreachable),
    listRecentJobs: async () => failed(unreachable),
    sendPicture: async () => failed({ code: "INTERNAL", message: "", status: 500 }),
    loadSample: async (name) => ok(readSampleText(name)),
    readJob: async () => failed(unreachable),
    readStored: async () => failed(unreachable),
    readFile: async () => failed(unreachable),
    readCatalogue: async () => failed(unreachable),
    listStored: async () => failed(unreachable),
    readApp: async () => failed(unreachable),
    readAsset: async () => failed(unreachable),
    listAssets: async () => failed(unreachable),
    findStoredName: async () => undefined,
    ...overrides,
  };
}

export function showRunPage(api: RunApi, canRun = true) {
  return renderPage(<RunScreen canRun={canRun} memberId="ada" store={createRunStore()} api={api} />);
}

export async function openText(text: string) {
  fireEvent.paste(document.body, { clipboardData: { files: [], getData: () => text } });
  await screen.findAllByRole("button", { name: "Run" });
}

export async function dropFile(name: string, content: string | Uint8Array, type = "application/json", target: Element | Window = window) {
  const file = new File([content], name, { type });
  await act(async () => void fireEvent.drop(target, { dataTransfer: { types: ["Files"], files: [file] } }));
}

/** Creates the content of a stored file. */
export function createByteSource(content: string | Uint8Array): ByteSource {
  const bytes = new Uint8Array(Buffer.from(content));
  return { size: bytes.length, read: async (from, to) => bytes.slice(from, to), text: async () => new TextDecoder().decode(bytes) };
}

export const getField = (name: string) => screen.getByRole<HTMLInputElement>("textbox", { name });
// The page has two Run buttons: in the header and at the bottom of narrow screens.
export const getRunButton = () => screen.getAllByRole("button", { name: "Run" })[0] ?? document.body;
export const pressRun = () => fireEvent.click(getRunButton());
