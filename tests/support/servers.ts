// Fake external servers. Each closes after the test or file that started it.
import { closeAfterwards } from "./close-afterwards";
import * as fileSource from "./file-source";
import * as localServer from "./local-server";
import * as runnerServer from "./runner-server";
import * as strictS3 from "./strict-s3";
import * as testServer from "./test-server";

function withAutoClose<Options extends unknown[], Server extends { close(): Promise<unknown> }>(
  start: (...options: Options) => Promise<Server>,
) {
  return async (...options: Options): Promise<Server> => {
    const server = await start(...options);
    closeAfterwards(async () => void (await server.close()));
    return server;
  };
}

export const startFileSource = withAutoClose(fileSource.startFileSource);
export const openTestServer = withAutoClose(testServer.startTestServer);
export const startLocalServer = withAutoClose(localServer.startLocalServer);
export const startRunnerServer = withAutoClose(runnerServer.startRunnerServer);
export const startStrictS3 = withAutoClose(strictS3.startStrictS3);
