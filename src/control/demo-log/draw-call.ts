/** Draws the numbers and times of a scenario's call. */
import { DEMO_MODELS } from './demo-models.ts';
import type { PlannedCall } from './planned-call.ts';
import type { DemoCall } from './scenario.ts';
import type { SeededRandom } from './seeded-random.ts';

const FAILURE_MS = 240;
/** The share of the answer that a leaving client has got. */
const LEFT_SHARE = 0.5;

type DrawnCall = Pick<PlannedCall, 'model' | 'tokens' | 'firstTokenMs' | 'durationMs' | 'mark'>;

export function drawCall({ model: name, tokens, fails, leaves }: DemoCall, random: SeededRandom): DrawnCall {
  const model = DEMO_MODELS[name];
  const vary = (count: number | undefined) => Math.round((count ?? 0) * (0.9 + random.next() * 0.2));
  const reasoning = vary(tokens.thought);
  const output = Math.max(vary(tokens.out), reasoning + 1);
  const written = vary(tokens.wrote);
  const drawn = {
    // A cache write that is not reported is plain input.
    input: vary(tokens.in) + (model.writesCache ? 0 : written),
    cacheRead: tokens.cached ?? 0,
    cacheWrite: model.writesCache ? written : 0,
    output,
    reasoning,
  };
  const pace = 0.8 + random.next() * 0.5;
  const thinkingMs = (reasoning / model.tokensPerSecond) * 1_000;
  const firstTokenMs = Math.round(model.firstTokenMs * pace + thinkingMs);
  const writingMs = ((output - reasoning) / model.tokensPerSecond) * 1_000 * pace;
  const answeredMs = firstTokenMs + writingMs * (leaves === true ? LEFT_SHARE : 1);
  return {
    model,
    tokens: drawn,
    firstTokenMs,
    durationMs: Math.round(fails === undefined ? answeredMs : FAILURE_MS * pace),
    mark: random.bytes(9).toString('hex'),
  };
}
