/**
 * One trial of a budget: many calls of one run at once, with random prompts, maxima and endings, then one after another
 * until the budget refuses. The provider's own books say what the run has cost.
 */
import { WebSocket } from 'ws';
import type { BillingProvider, Ending } from './billing-provider.ts';

export interface TrialGateway {
  /** One for each process or node of the gateway; calls take turns. */
  readonly bases: readonly string[];
  readonly key: string;
}

export interface TrialPlan {
  readonly run: string;
  readonly calls: number;
  /** How many small ones follow at most; as many as `calls` where it is absent. */
  readonly restCalls?: number;
  /** The budget of the run in dollars, sent with each call; absent where a budget is declared. */
  readonly budgetHeader?: string;
  /** Given the body of each refusal, which says what is spent and what is reserved. */
  readonly onRefused?: (text: string) => void;
  /** Awaited between the burst and the small calls. */
  readonly beforeRest?: () => Promise<unknown>;
  readonly random: () => number;
  /** The largest maximum of output tokens. */
  readonly maxTokens: number;
  readonly endings: readonly Ending[];
}

export interface TrialAnswers {
  readonly admitted: number;
  readonly refused: number;
  /** Statuses other than 200, 429 and the provider's own error. */
  readonly odd: readonly string[];
}

const REFUSALS = 3;

export async function runTrial(
  gateway: TrialGateway,
  plan: TrialPlan,
): Promise<{ readonly burst: TrialAnswers; readonly rest: TrialAnswers }> {
  const turns = takeTurns(gateway, plan);
  const burst = await Promise.all(Array.from({ length: plan.calls }, (_, index) => makeCall(gateway, plan, index)));
  await turns;
  await plan.beforeRest?.();
  const rest: string[] = [];
  // What is left after the burst is spent one call after another, with small ones, until several do not fit.
  for (let refused = 0, index = 0; refused < REFUSALS && index < (plan.restCalls ?? plan.calls); index += 1) {
    const answer = await makeCall(gateway, { ...plan, maxTokens: Math.ceil(plan.maxTokens / 8) }, index);
    rest.push(answer);
    if (answer === '429') refused += 1;
  }
  return { burst: count(burst), rest: count(rest) };
}

function count(answers: readonly string[]): TrialAnswers {
  return {
    refused: answers.filter((answer) => answer === '429').length,
    admitted: answers.filter((answer) => answer !== '429').length,
    odd: answers.filter((answer) => !['200', '429', '500', 'cut', 'abort'].includes(answer)),
  };
}

const TURNS = 4;

/** Beside the calls a connection whose turns are of the same run; it is left when one is refused, or in the middle. */
async function takeTurns(gateway: TrialGateway, { run, random, maxTokens, budgetHeader }: TrialPlan): Promise<void> {
  const base = gateway.bases[Math.floor(random() * gateway.bases.length)] ?? '';
  const client = new WebSocket(`${base.replace('http', 'ws')}/v1/responses`, {
    headers: {
      authorization: 'Bearer sk-test',
      'x-gateway-key': gateway.key,
      'x-gateway-trace-id': run,
      ...(budgetHeader === undefined ? {} : { 'x-gateway-budget-usd': budgetHeader }),
    },
  });
  const leavesAfter = random() < 0.3 ? 2 : TURNS;
  await new Promise<void>((resolve) => {
    let turns = 0;
    const ask = () => {
      turns += 1;
      if (turns > leavesAfter) client.terminate();
      else {
        const most = 1 + Math.floor(random() * maxTokens);
        const metadata = { run, output: String(Math.floor(random() * (most + 1))) };
        const input = 'b'.repeat(Math.floor(random() * 300));
        client.send(
          JSON.stringify({ type: 'response.create', model: 'gpt-4o-mini', max_output_tokens: most, input, metadata }),
        );
      }
    };
    client.on('open', ask);
    client.on('message', (data) => {
      if (String(data).includes('response.completed')) ask();
    });
    client.on('error', () => {});
    client.on('close', () => resolve());
  });
}

async function makeCall(gateway: TrialGateway, plan: TrialPlan, index: number): Promise<string> {
  const { random, endings } = plan;
  const ending = endings[Math.floor(random() * endings.length)] ?? 'json';
  const maxTokens = 1 + Math.floor(random() * plan.maxTokens);
  const isStream = ending === 'stream' || ending === 'cut-stream' || (ending === 'abort' && random() < 0.5);
  const body = {
    model: 'gpt-4o-mini',
    max_tokens: maxTokens,
    stream: isStream,
    messages: [{ role: 'user', content: 'a'.repeat(Math.floor(random() * 400)) }],
    metadata: {
      run: plan.run,
      ending,
      output: String(Math.floor(random() * (maxTokens + 1))),
      delay: String(Math.floor(random() * 8)),
    },
  };
  const aborter = new AbortController();
  const afterMs = random() * 10;
  if (ending === 'abort') setTimeout(() => aborter.abort(), afterMs);
  try {
    const answer = await fetch(`${gateway.bases[index % gateway.bases.length]}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer sk-test',
        'x-gateway-key': gateway.key,
        'x-gateway-trace-id': plan.run,
        ...(plan.budgetHeader === undefined ? {} : { 'x-gateway-budget-usd': plan.budgetHeader }),
      },
      body: JSON.stringify(body),
      signal: aborter.signal,
    });
    const text = await answer.text();
    if (answer.status === 429) plan.onRefused?.(text);
    return String(answer.status);
  } catch {
    return aborter.signal.aborted ? 'abort' : 'cut';
  }
}

/** What the run has cost at the provider, in pico-dollars, at these rates for one token. */
export function costInBooks(
  provider: BillingProvider,
  run: string,
  rates: { readonly prompt: bigint; readonly output: bigint },
): bigint {
  const { prompt, output } = provider.booksOf(run);
  return BigInt(prompt) * rates.prompt + BigInt(output) * rates.output;
}
