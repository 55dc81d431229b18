/** pi: an extension, which leads its providers here and says the session with each call, since pi does so for OpenAI alone. */
import { join } from 'node:path';
import type { SetupClient } from '../setup-client.ts';

const PATHS = { anthropic: '', openai: '/v1', google: '/v1beta' };

function writeExtension(origin: string, key: string): string {
  const lines = Object.entries(PATHS).map(
    ([name, path]) => `    pi.registerProvider('${name}', { baseUrl: ${JSON.stringify(origin + path)}, headers });`,
  );
  return `// Written by \`tollgate setup pi\`; \`tollgate setup pi --undo\` takes it away.
export default function (pi) {
  if (process.env.TOLLGATE_RUN) return; // \`tollgate run\` leads it.
  const lead = (run) => {
    const headers = { 'X-Gateway-Key': ${JSON.stringify(key)}, 'X-Gateway-Client': 'pi', ...run };
${lines.join('\n')}
  };
  lead({});
  pi.on('session_start', (_event, ctx) => {
    const session = ctx.sessionManager.getSessionId?.();
    if (session) lead({ 'X-Gateway-Trace-Id': 'pi:' + session });
  });
}
`;
}

export const pi: SetupClient = {
  name: 'pi',
  title: 'pi',
  listFiles: ({ origin, key, home, env }) => [
    {
      path: join(env['PI_CODING_AGENT_DIR'] ?? join(home, '.pi', 'agent'), 'extensions', 'tollgate.js'),
      format: 'whole',
      edits: [{ path: [], value: writeExtension(origin, key) }],
    },
  ],
};
