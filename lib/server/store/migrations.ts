// Every migration of SQLite, in order, imported statically so that the bundler includes them. A published one is never changed.

import "server-only";
import { type Migration } from "kysely";
import { firstTables } from "./migrations/0001-first-tables";
import { endedSessions } from "./migrations/0002-ended-sessions";
import { connectionDialect } from "./migrations/0003-connection-dialect";
import { savedViews } from "./migrations/0004-saved-views";
import { presses } from "./migrations/0005-presses";
import { downloadTasks } from "./migrations/0006-download-tasks";
import { jobLabels } from "./migrations/0007-job-labels";
import { viewsOfScreens } from "./migrations/0008-views-of-screens";
import { archives } from "./migrations/0009-archives";
import { invitationsAndLog } from "./migrations/0010-invitations-and-log";
import { logByTarget } from "./migrations/0011-log-by-target";
import { chainedLog } from "./migrations/0012-chained-log";
import { connectionAssets } from "./migrations/0013-connection-assets";
import { jobLedger } from "./migrations/0014-job-ledger";
import { maskedNames } from "./migrations/0015-masked-names";
import { submissions } from "./migrations/0016-submissions";
import { actsOfTheLog } from "./migrations/0017-acts-of-the-log";
import { sessions } from "./migrations/0018-sessions";
import { tokens } from "./migrations/0019-tokens";
import { identities } from "./migrations/0020-identities";
import { team } from "./migrations/0021-team";
import { shares } from "./migrations/0022-shares";
import { embedding } from "./migrations/0023-embedding";
import { settings } from "./migrations/0024-settings";
import { apps } from "./migrations/0028-apps";
import { embed } from "./migrations/0029-embed";
import { postgresTables } from "./migrations/0030-postgres-tables";
import { sharedStore } from "./migrations/0030-shared-store";
import { chosenRoles } from "./migrations/0032-chosen-roles";
import { runErrors } from "./migrations/0033-run-errors";
import { peopleFacts } from "./migrations/0034-people-facts";
import { reruns } from "./migrations/0035-reruns";

export const migrations: Record<string, Migration> = {
  "0001-first-tables": firstTables,
  "0002-ended-sessions": endedSessions,
  "0003-connection-dialect": connectionDialect,
  "0004-saved-views": savedViews,
  "0005-presses": presses,
  "0006-download-tasks": downloadTasks,
  "0007-job-labels": jobLabels,
  "0008-views-of-screens": viewsOfScreens,
  "0009-archives": archives,
  "0010-invitations-and-log": invitationsAndLog,
  "0011-log-by-target": logByTarget,
  "0012-chained-log": chainedLog,
  "0013-connection-assets": connectionAssets,
  "0014-job-ledger": jobLedger,
  "0015-masked-names": maskedNames,
  "0016-submissions": submissions,
  "0017-acts-of-the-log": actsOfTheLog,
  "0018-sessions": sessions,
  "0019-tokens": tokens,
  "0020-identities": identities,
  "0021-team": team,
  "0022-shares": shares,
  "0023-embedding": embedding,
  "0024-settings": settings,
  "0028-apps": apps,
  "0029-embed": embed,
  "0030-shared-store": sharedStore,
  "0032-chosen-roles": chosenRoles,
  "0033-run-errors": runErrors,
  "0034-people-facts": peopleFacts,
  "0035-reruns": reruns,
};

/** A PostgreSQL database begins with the tables as of migration 0030; later migrations run on both. */
export const postgresMigrations: Record<string, Migration> = {
  "0030-postgres-tables": postgresTables,
  ...Object.fromEntries(Object.entries(migrations).filter(([name]) => name > "0031")),
};
