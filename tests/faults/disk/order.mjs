// Loaded into the service's process before its own code (node --import): records every call to the disk, line by line, in
// <LIGHTDESK_TEST_ORDER>, at the moment the disk reports it done. It works from outside; the service does not know of it.
import fs from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";
import { wrapSqlite } from "./wrap-sqlite.mjs";

const file = process.env.LIGHTDESK_TEST_ORDER;
const append = fs.appendFileSync;
const note = (...words) => append(file, `${words.join("\t")}\n`);
const { promises } = fs;

function noteAfter(owner, call, wordsOf) {
  const real = owner[call];
  owner[call] = (...args) => {
    const result = real.apply(owner, args);
    if (owner !== promises) {
      note(...wordsOf(args, result));
      return result;
    }
    return result.then((value) => {
      note(...wordsOf(args, value));
      return value;
    });
  };
}
const made = (_args, first) => ["made", first ?? ""];
noteAfter(promises, "mkdir", made);
noteAfter(fs, "mkdirSync", ([path, options], first) => ["made", options?.recursive ? (first ?? "") : path]);
for (const call of ["link", "rename"]) noteAfter(promises, call, ([from, to]) => ["named", from, to]);

const open = promises.open;
promises.open = async (path, ...rest) => {
  const handle = await open(path, ...rest);
  for (const call of ["write", "writev", "writeFile", "truncate", "sync", "datasync"]) {
    const real = handle[call].bind(handle);
    handle[call] = async (...args) => {
      const isWrite = !call.endsWith("sync");
      if (isWrite) note("written", path);
      const result = await real(...args);
      if (!isWrite) note("synced", path);
      return result;
    };
  }
  return handle;
};
const paths = new Map();
const openSync = fs.openSync;
fs.openSync = (path, ...rest) => {
  const number = openSync(path, ...rest);
  paths.set(number, path);
  return number;
};
// What streams call.
const { open: openFile, fsync } = fs;
fs.open = (path, ...rest) => {
  const done = rest.pop();
  openFile(path, ...rest, (error, number) => {
    if (!error) paths.set(number, path);
    done(error, number);
  });
};
for (const call of ["write", "writev"]) {
  const real = fs[call];
  fs[call] = (number, ...rest) => {
    note("written", paths.get(number) ?? "");
    return real(number, ...rest);
  };
}
fs.fsync = (number, done) =>
  fsync(number, (error) => {
    if (!error) note("synced", paths.get(number) ?? "");
    done(error);
  });
noteAfter(fs, "fsyncSync", ([number]) => ["synced", paths.get(number) ?? ""]);
// The threads that run nodes write files too.
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
          note("committing");
          return run();
        };
        return Object.defineProperty(statement, "run", { value: commit });
      }
    },
);
