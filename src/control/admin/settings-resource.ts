/** The settings in the database, which hold for all nodes. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { FIRST_ACCOUNT_ID } from '../store/accounts.ts';
import {
  changeSharedSetting,
  isSharedSetting,
  readSharedSettings,
  SHARED_SETTING_NAMES,
  SHARED_SETTINGS,
} from '../store/shared-settings.ts';
import { requestTexts } from '../texts/texts-job.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError, databaseUnavailable } from './api-error.ts';
import { accountOf } from './principal.ts';
import { readActor } from './read-actor.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, Time } from './schemas.ts';

const SharedSettingBody = z
  .object({
    name: z.string(),
    value: z.string(),
    about: z.string(),
    set_by: z
      .enum(['default', 'node', 'log', 'operator'])
      .describe(
        '`node`: what a node was started with; `log`: the log went back further than the first node’s setting, so nothing goes; `operator`: said for all nodes',
      ),
    actor: z.string(),
    changed_at: Time.nullable(),
  })
  .openapi('SharedSetting');

const ListBody = z.object({ data: z.array(SharedSettingBody) });

async function listAll(deps: AdminDeps): Promise<z.infer<typeof ListBody>> {
  const shared = await readSharedSettings(requireDatabase(deps));
  if (shared === null) throw databaseUnavailable();
  return {
    data: SHARED_SETTING_NAMES.map((name) => {
      const { value, setBy, actor, changedAt } = shared[name];
      const { about } = SHARED_SETTINGS[name];
      return { name, value, about, set_by: setBy, actor, changed_at: changedAt?.toISOString() ?? null };
    }),
  };
}

export function addSettingRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  const list = createRoute({
    method: 'get',
    path: '/api/v1/settings',
    summary: 'The settings that hold for all nodes that share the database',
    responses: { 200: jsonAnswer(ListBody, 'All of them'), ...COMMON_ERRORS },
  });
  app.openapi(list, async (c) => c.json(await listAll(deps), 200));

  const set = createRoute({
    method: 'put',
    path: '/api/v1/settings/{name}',
    summary: 'Change a setting for all nodes',
    description:
      'It counts within a minute, retention at its next hourly turn. What a node is started with changes it no more.',
    request: {
      params: z.object({ name: z.string() }),
      body: { content: { 'application/json': { schema: z.object({ value: z.string().max(100) }) } }, required: true },
    },
    responses: {
      200: jsonAnswer(ListBody, 'All, as they are now'),
      404: errorAnswer('No such setting'),
      ...COMMON_ERRORS,
    },
  });
  app.openapi(set, async (c) => {
    const { name } = c.req.valid('param');
    if (!isSharedSetting(name))
      throw new ApiError(404, 'not_found', `There is no such setting; they are: ${SHARED_SETTING_NAMES.join(', ')}.`);
    const value = SHARED_SETTINGS[name].read(c.req.valid('json').value.trim());
    if (value === null) throw new ApiError(400, 'invalid_request', `${name} is ${SHARED_SETTINGS[name].form}.`);
    const actor = readActor(c);
    await changeSharedSetting(requireDatabase(deps), accountOf(c), name, { value, actor });
    await deps.nodes.onSettingsChanged();
    // Calls of meanwhile have bodies and no text.
    if (name === 'search' && value === 'on') await requestTexts(requireDatabase(deps), FIRST_ACCOUNT_ID);
    deps.log.info({ setting: name, value, actor }, 'a setting was changed for all nodes');
    return c.json(await listAll(deps), 200);
  });
}
