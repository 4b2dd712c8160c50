// Preloaded into the service's process (node --import). Appends every completed disk call as a line to the file
// LIGHTDESK_TEST_ORDER, without changes to the service.
import fs from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";
import { wrapSqlite } from "./wrap-sqlite.mjs";

const file = process.env.LIGHTDESK_TEST_ORDER;
const append = fs.appendFileSync;
const record = (...fields) => append(file, `${fields.join("\t")}\n`);
const { promises } = fs;

function recordAfter(owner, call, getFields) {
  const original = owner[call];
  owner[call] = (...args) => {
    const result = original.apply(owner, args);
    if (owner !== promises) {
      record(...getFields(args, result));
      return result;
    }
    return result.then((value) => {
      record(...getFields(args, value));
      return value;
    });
  };
}
const describeMkdir = (_args, first) => ["made", first ?? ""];
recordAfter(promises, "mkdir", describeMkdir);
recordAfter(fs, "mkdirSync", ([path, options], first) => ["made", options?.recursive ? (first ?? "") : path]);
for (const call of ["link", "rename"]) recordAfter(promises, call, ([from, to]) => ["named", from, to]);

const open = promises.open;
promises.open = async (path, ...rest) => {
  const handle = await open(path, ...rest);
  for (const call of ["write", "writev", "writeFile", "truncate", "sync", "datasync"]) {
    const original = handle[call].bind(handle);
    handle[call] = async (...args) => {
      const isWrite = !call.endsWith("sync");
      if (isWrite) record("written", path);
      const result = await original(...args);
      if (!isWrite) record("synced", path);
      return result;
    };
  }
  return handle;
};
const paths = new Map();
const openSync = fs.openSync;
fs.openSync = (path, ...rest) => {
  const descriptor = openSync(path, ...rest);
  paths.set(descriptor, path);
  return descriptor;
};
// Streams call these functions.
const { open: openFile, fsync } = fs;
fs.open = (path, ...rest) => {
  const callback = rest.pop();
  openFile(path, ...rest, (error, descriptor) => {
    if (!error) paths.set(descriptor, path);
    callback(error, descriptor);
  });
};
for (const call of ["write", "writev"]) {
  const original = fs[call];
  fs[call] = (descriptor, ...rest) => {
    record("written", paths.get(descriptor) ?? "");
    return original(descriptor, ...rest);
  };
}
fs.fsync = (descriptor, callback) =>
  fsync(descriptor, (error) => {
    if (!error) record("synced", paths.get(descriptor) ?? "");
    callback(error);
  });
recordAfter(fs, "fsyncSync", ([descriptor]) => ["synced", paths.get(descriptor) ?? ""]);
// Worker threads that run nodes write files too.
const threads = createRequire(import.meta.url)("node:worker_threads");
threads.Worker = class extends threads.Worker {
  constructor(path, options) {
    super(path, options.eval ? options : { ...options, env: { LIGHTDESK_TEST_ORDER: file }, execArgv: ["--import", import.meta.url] });
  }
};
syncBuiltinESMExports();

wrapSqlite(
  (DatabaseSync) =>
    class extends DatabaseSync {
      prepare(sql) {
        const statement = super.prepare(sql);
        if (sql !== "COMMIT") return statement;
        const run = statement.run.bind(statement);
        const commit = () => {
          record("committing");
          return run();
        };
        return Object.defineProperty(statement, "run", { value: commit });
      }
    },
);
