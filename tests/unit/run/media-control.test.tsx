// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { MediaControl } from "@/components/run/form/controls/media-control";
import { type PictureContext } from "@/components/run/form/controls/picture-context";
import { failed, ok } from "@/lib/shared/result";
import { renderPage } from "./render";

afterEach(cleanup);

const nobody = failed({ code: "CONSOLE_UNREACHABLE", message: "", status: 0 });

it("a film on its way can be stopped: nothing is changed, and Run is free again", async () => {
  let end: (() => void) | undefined;
  let isAborted = false;
  const picture: PictureContext = {
    listAssets: async () => nobody,
    storedName: async () => undefined,
    onNamed: () => undefined,
    canSend: true,
    sendPicture: (_file, { signal, onProgress }) =>
      new Promise((resolve) => {
        onProgress(0.25);
        signal.addEventListener("abort", () => (isAborted = true));
        end = () => resolve(ok({ name: "late.mp4" }));
      }),
  };
  const changes: unknown[] = [];
  const running: boolean[] = [];
  renderPage(
    <MediaControl
      id="film"
      media="video"
      options={[]}
      picture={picture}
      value="old.mp4"
      onChange={(value) => void changes.push(value)}
      onRunning={(isRunning) => void running.push(isRunning)}
    />,
  );
  fireEvent.change(screen.getByTestId("media-file"), { target: { files: [new File(["film"], "new.mp4", { type: "video/mp4" })] } });
  expect((await screen.findByRole("progressbar", { name: "Uploading new.mp4" })).getAttribute("aria-valuenow")).toBe("25");
  fireEvent.click(screen.getByRole("button", { name: "Stop" }));
  expect(isAborted).toBe(true);
  await act(async () => end?.());
  expect(screen.queryByRole("progressbar")).toBeNull();
  expect(changes).toEqual([]);
  expect(running).toEqual([true, false]);
});
