/** What `doctor` says of kept credentials. */
import { z } from 'zod';
import type { Finding } from './finding.ts';
import { terminalText } from './terminal-text.ts';

export const KeptCredentials = z.object({
  data: z.array(
    z.object({ provider: z.string(), alias: z.string(), state: z.string(), problem: z.string().nullable() }),
  ),
});

export function* judgeCredentials({ data }: z.infer<typeof KeptCredentials>): Generator<Finding> {
  if (data.length === 0) return;
  const unusable = data.filter(({ state }) => state !== 'usable');
  if (unusable.length === 0) yield { level: 'ok', text: `kept credentials: ${data.length}, all usable` };
  for (const { provider, alias, problem } of unusable)
    yield {
      level: 'problem',
      text: terminalText(
        `the kept credential of ${provider} ${alias} cannot be used, and calls that need it are refused: ${problem ?? ''}`,
      ),
    };
}
