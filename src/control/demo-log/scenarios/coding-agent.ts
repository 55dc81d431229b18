/** A coding agent's session: one trace id, no steps, a conversation with a growing cache. */
import type { JsonObject } from '../../../vocabulary/token-usage.ts';
import { DEMO_CLIENTS, type DemoCall, type DemoRun } from '../scenario.ts';

/** The agent's next action, and what it saw of the one before. */
const ACTIONS: readonly (readonly [saw: string, says: string, tool: string, input: JsonObject])[] = [
  ['ok', 'I run the failing test first.', 'Bash', { command: 'npm test -- cart-total' }],
  ['1 failed: expected "12.30", got "12.299999999999999"', 'A float. I look for it.', 'Grep', { pattern: 'total \\*' }],
  [
    'src/cart/total.ts:14: return items.reduce((sum, i) => sum + i.price * i.count, 0);',
    'Prices should be whole cents.',
    'Edit',
    { file_path: 'src/cart/total.ts', new_string: 'return items.reduce((cents, i) => cents + i.cents * i.count, 0);' },
  ],
  ['edited', '', 'Grep', { pattern: 'total\\(' }],
  [
    'src/cart/page.ts:31',
    'The caller formats euros.',
    'Edit',
    { file_path: 'src/cart/page.ts', new_string: 'formatCents(total(items))' },
  ],
  ['edited', 'Now the tests again.', 'Bash', { command: 'npm test' }],
];

const FIRST_CACHE = 14_800;
const GROWTH = 640;

const steps: readonly DemoCall[] = ACTIONS.map(([saw, say, tool, input], index) => ({
  model: 'claude-opus-5',
  stream: true,
  ...(index === 0 ? { ask: 'The cart shows 12.299999999999999. Please fix it.' } : { results: [saw] }),
  say,
  use: [{ tool, input }],
  tokens: {
    in: 12,
    ...(index === 0 ? { wrote: FIRST_CACHE } : { cached: FIRST_CACHE + (index - 1) * GROWTH, wrote: GROWTH }),
    out: 180,
  },
}));

export const codingAgent: DemoRun = {
  traceId: 'demo-session-5c1e77',
  hoursAgo: 0.8,
  client: DEMO_CLIENTS.codingAgent,
  metadata: { Environment: 'demo', Team: 'storefront', 'User-Id': 'u-noor-haddad', Repository: 'shop-web' },
  system: 'You are a coding agent in the repository shop-web. Make small changes and run the tests after each.',
  tools: [
    { name: 'Bash', about: 'Run a command', takes: ['command'] },
    { name: 'Grep', about: 'Search the files', takes: ['pattern'] },
    { name: 'Edit', about: 'Change a file', takes: ['file_path', 'new_string'] },
  ],
  nodes: [
    ...steps,
    {
      model: 'claude-opus-5',
      stream: true,
      results: ['All 214 tests passed.'],
      say: 'Fixed. The total was a sum of floats; prices are whole cents now, and `formatCents` writes them at the edge:\n\n```ts\nreturn items.reduce((cents, i) => cents + i.cents * i.count, 0);\n```\n\nI changed one caller. All 214 tests pass.',
      tokens: { in: 12, cached: FIRST_CACHE + (ACTIONS.length - 1) * GROWTH, wrote: GROWTH, out: 320 },
    },
  ],
};
