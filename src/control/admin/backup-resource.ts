/** Backup and restore over HTTP as streams, one at a time, without the API's limits of size and time. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { BackupError, type BackupErrorCode } from '../backup/backup-error.ts';
import { listGatewayContent } from '../backup/gateway-content.ts';
import { type AdminDeps, type Restored, requireDatabase } from './admin-deps.ts';
import { ApiError, type ApiErrorStatus } from './api-error.ts';
import { bindingsOf } from './bindings-of.ts';
import { parseQuery } from './parse-query.ts';
import { createPulledStream, describeFailure } from './pulled-stream.ts';
import { readActor } from './read-actor.ts';
import { readUpload } from './read-upload.ts';
import { RESTORE_PATH } from './restore-path.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, Time } from './schemas.ts';

const BACKUP_PATH = '/api/v1/backup';
/** A client that reads nothing would hold a snapshot of the database. */
const STALL_LIMIT_MS = 120_000;

const STATUS_OF: Readonly<Record<BackupErrorCode, ApiErrorStatus>> = {
  not_a_backup: 400,
  backup_damaged: 400,
  backup_foreign: 400,
  backup_refused: 400,
  backup_newer: 409,
  gateway_not_empty: 409,
  log_in_use: 409,
};

const RestoreQuery = z.strictObject({
  replace: z
    .enum(['true', 'false'])
    .default('false')
    .describe('Remove the calls, keys and declarations that the gateway has; else it must have none'),
});

const RestoreBody = z.object({
  created_at: Time.describe('The moment that the backup is of'),
  tollgate_version: z.string().describe('What made it'),
  rows: z.number().int(),
  bytes: z.number().int().describe('Of the rows before packing'),
  tables: z.array(z.object({ name: z.string(), rows: z.number().int() })),
  replaced: z.array(z.string()).describe('What was removed, in words'),
  keys_published: z.boolean().describe('False: a proxy process has not confirmed the restored keys yet'),
  interrupted: z.number().int().describe('Calls that were under way when the backup was made, and are closed now'),
  alerts_on: z.number().int().describe('Alerts that look at the restored log from now on'),
  alerts_tell: z.array(z.string()).describe('Names of the destinations that those tell'),
});

function toAnswer(thrown: unknown): unknown {
  if (!(thrown instanceof BackupError)) return thrown;
  return new ApiError(STATUS_OF[thrown.code], thrown.code, thrown.message, { cause: thrown });
}

function formatRestored({ header, tables, ...restored }: Restored): z.infer<typeof RestoreBody> {
  return {
    created_at: header.created_at,
    tollgate_version: header.tollgate_version,
    rows: restored.rows,
    bytes: restored.bytes,
    tables: tables.map(({ name, rows }) => ({ name, rows })),
    replaced: [...restored.replaced],
    keys_published: restored.areKeysPublished,
    interrupted: restored.interrupted,
    alerts_on: restored.alerts.count,
    alerts_tell: [...restored.alerts.destinations],
  };
}

export function addBackupRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  let isBusy = false;

  function enter(): () => void {
    if (isBusy) throw new ApiError(409, 'backup_running', 'Another backup or restore is under way; wait for its end.');
    isBusy = true;
    let isLeft = false;
    return () => {
      if (!isLeft) isBusy = false;
      isLeft = true;
    };
  }

  const backup = createRoute({
    method: 'get',
    path: BACKUP_PATH,
    summary: 'The whole database as one file, of one moment; a backup that fails breaks the connection off',
    description:
      'What waits in the spool is stored first, for at most 10 s. The file holds digests of keys, and the bodies of calls as they are: keep it as you keep the database.',
    responses: {
      200: {
        description: 'Frames in a zstd stream; only a file whose trailer is there is whole',
        content: { 'application/zstd': { schema: z.string() } },
      },
      409: errorAnswer('Another backup or restore is under way'),
      ...COMMON_ERRORS,
    },
  });
  app.openAPIRegistry.registerPath(backup);
  app.get(BACKUP_PATH, async (c) => {
    parseQuery(c.req.url, z.strictObject({}));
    requireDatabase(deps);
    const { outgoing } = bindingsOf(c.env);
    const leave = enter();
    try {
      const packed = deps.backups.open();
      // A database that does not answer fails here, before the status is sent.
      const first = await packed.next();
      const actor = readActor(c);
      let bytes = 0;
      const stream = createPulledStream({
        head: first.done === true ? new Uint8Array() : first.value,
        next: async () => {
          const { done, value } = await packed.next();
          if (done === true) return null;
          bytes += value.length;
          return value;
        },
        stallLimitMs: STALL_LIMIT_MS,
        destroy: () => outgoing.destroy(),
        onEnd: (failure) => {
          packed.return(undefined).catch(() => {});
          leave();
          if (failure === null) deps.log.info({ actor, bytes }, 'a backup was made');
          else deps.log.error({ ...describeFailure(failure), actor, bytes }, 'a backup broke off');
        },
      });
      return c.body(stream, 200, {
        'content-type': 'application/zstd',
        'content-disposition': 'attachment; filename="tollgate.backup"',
        'cache-control': 'no-store',
      });
    } catch (error) {
      leave();
      throw toAnswer(error);
    }
  });

  const look = createRoute({
    method: 'get',
    path: RESTORE_PATH,
    summary: 'What a restore would remove',
    responses: {
      200: jsonAnswer(
        z.object({
          holds: z.array(z.string()).describe('In words, such as "calls (1204)"; empty: nothing is in the way'),
        }),
        'What the gateway has of its own',
      ),
      ...COMMON_ERRORS,
    },
  });
  app.openapi(look, async (c) => c.json({ holds: [...(await listGatewayContent(requireDatabase(deps)))] }, 200));

  const restore = createRoute({
    method: 'post',
    path: RESTORE_PATH,
    summary: 'Put a backup into the database, whole or not at all',
    description:
      'The body is the file, of any size. One transaction: until its end readers see what was there before, and new records wait in the spool. A client that goes away cancels.',
    request: { query: RestoreQuery },
    responses: {
      200: jsonAnswer(RestoreBody, 'It is restored; its keys work, and no others'),
      409: errorAnswer('The gateway is not empty, the file is of a newer release, or the log is in use'),
      ...COMMON_ERRORS,
    },
  });
  // The body is read as a stream, so no middleware may read it.
  app.openAPIRegistry.registerPath({
    ...restore,
    request: {
      query: RestoreQuery,
      body: { required: true, content: { 'application/zstd': { schema: z.string() } } },
    },
  });
  app.post(RESTORE_PATH, async (c) => {
    const query = parseQuery(c.req.url, RestoreQuery);
    requireDatabase(deps);
    const { incoming, outgoing } = bindingsOf(c.env);
    const leave = enter();
    const gone = new AbortController();
    const onClose = (): void => gone.abort();
    outgoing.once('close', onClose);
    const actor = readActor(c);
    try {
      const restored = await deps.backups.restore(readUpload(incoming), query.replace === 'true', gone.signal);
      const { created_at: createdAt } = restored.header;
      deps.log.warn({ actor, createdAt, rows: restored.rows, replaced: restored.replaced }, 'a backup was restored');
      return c.json(formatRestored(restored), 200);
    } catch (error) {
      deps.log.warn({ actor, reason: error instanceof Error ? error.message : 'unknown' }, 'a restore was undone');
      throw toAnswer(error);
    } finally {
      outgoing.off('close', onClose);
      leave();
    }
  });
}
